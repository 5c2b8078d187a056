"""One cell of a baseline: its measures for people, its answers for the comparison sample by sample.

Its signature names what decided the numbers; `changed_parts` has the differences of two signatures in words for people.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_puma.baseline.columns import answers_of, rounded, stored
from pytest_puma.core import CellId, Drift, Key, Outcome, Prediction
from pytest_puma.core.metric import Source
from pytest_puma.core.metric_name import MetricName
from pytest_puma.platform.shape import misfit

#: Names for people of the parts that decide the samples.
DATA, SUBJECTS = "the data", "the subjects"
#: Name for people of the code that reads replies: no reply depends on it.
PARSER = "the parser"
#: The parts of a signature that its file names first.
_FIRST = ("repeats", "subjects")
_NUMBERS = ("value", "low", "high", "n")
_HEAD = {
    "commit": str,
    "test": str,
    "kept?": str,
    "measures": {str: {str: (None, float)}},
    "signature": {
        "data": (None, {"sha256?": str}),
        "template_sha256": object,
        "seed": object,
        "generation": object,
        "engine": {str: object},
    },
}
_ANCHOR = {"commit": str, "cusum": float, "renewals": int}


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The first baseline of a series of renewals: its commit, its answers, and the `drift` since then."""

    commit: str
    answers: Mapping[Key, Prediction]
    drift: Drift = field(default_factory=lambda: Drift(total=0.0, renewals=0))

    def renewed(self, drift: Drift) -> Anchor:
        """Return the anchor after one more renewal of the baseline."""
        return replace(self, drift=replace(drift, renewals=drift.renewals + 1))

    def head(self) -> dict[str, Any]:
        """Return the part for the file that people read."""
        return {"commit": self.commit, "cusum": rounded(self.drift.total), "renewals": self.drift.renewals}

    @classmethod
    def read(cls, head: Mapping[str, Any], columns: Mapping[str, Any]) -> Anchor:
        """Read an anchor from its `head` and `columns`; errors as in `Entry.read`."""
        if fault := misfit(head, _ANCHOR):
            raise ValueError(fault)
        drift = Drift(total=float(head["cusum"]), renewals=int(head["renewals"]))
        return cls(commit=head["commit"], answers=answers_of(columns), drift=drift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The baseline of a cell. `measures`: the numbers of each metric, null for NaN; `test`: the id of its function.

    `commit`: the commit behind the numbers, as in `main@3f2c1d9`; empty without a repository. `answers`: the
    predictions by key, without their texts. `kept`: a sentence if answers came from the response store, else empty.
    `anchor`: only for a cell with a gate on drifts, from the first renewal on.
    """

    cell: str
    commit: str
    test: str
    signature: Mapping[str, Any]
    measures: Mapping[str, Mapping[str, float | None]]
    answers: Mapping[Key, Prediction]
    kept: str = ""
    anchor: Anchor | None = None

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        *,
        commit: str,
        test: str,
        source_of: Callable[[str], Source],
        old: Entry | None = None,
        metrics: Collection[str] = (),
    ) -> Entry:
        """Make the entry of an outcome, without what the clock measures: another machine or hour changes it.

        `source_of`: from the name of a metric to what it is counted from; `old`: the entry to replace; `metrics`:
        further metrics whose scores are stored, for comparisons.
        """
        measures = {
            name: {number: rounded(getattr(measure, number)) for number in _NUMBERS}
            for name, measure in sorted(outcome.measures.items())
            if source_of(name) not in {"clock", "energy"}
        }
        limited = (verdict.gate.metric for verdict in outcome.judgement.verdicts)
        names = (outcome.primary, *outcome.judgement.replicates, *limited)
        # A slice is another number of the same scores.
        stored_metrics = {MetricName.parse(name).base for name in names}.union(metrics)
        return cls(
            cell=outcome.cell,
            commit=commit,
            test=test,
            signature=outcome.execution.signature,
            measures=measures,
            answers={prediction.key: stored(prediction, stored_metrics) for prediction in outcome.predictions},
            kept="" if outcome.execution.kept is None else str(outcome.execution.kept),
            anchor=None
            if old is None or outcome.judgement.drift is None
            else old.start.renewed(outcome.judgement.drift),
        )

    @property
    def name(self) -> CellId:
        """The names that identify the cell."""
        return CellId.parse(self.cell)

    @property
    def start(self) -> Anchor:
        """The anchor of the series of baselines: this entry, if it has none."""
        return self.anchor or Anchor(commit=self.commit, answers=self.answers)

    def changed(self, signature: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the parts in which a signature of today differs."""
        return tuple(changed_parts(signature, self.signature))

    def head(self) -> dict[str, Any]:
        """Return the part for the file that people read."""
        first = {name: self.signature[name] for name in _FIRST if name in self.signature}
        return {
            "test": self.test,
            "commit": self.commit,
            **({"kept": self.kept} if self.kept else {}),
            "measures": self.measures,
            "signature": first | dict(self.signature),
            **({} if self.anchor is None else {"anchor": self.anchor.head()}),
        }

    @classmethod
    def read(
        cls, cell: str, head: Mapping[str, Any], columns: Mapping[str, Any], anchor: Anchor | None = None
    ) -> Entry:
        """Read an entry from its `head` and `columns`; raises a `KeyError`, `TypeError` or `ValueError` if damaged."""
        if fault := misfit(head, _HEAD):
            raise ValueError(fault)
        fields = {name: head[name] for name in ("commit", "test", "signature", "measures")}
        return cls(cell=cell, answers=answers_of(columns), kept=head.get("kept", ""), anchor=anchor, **fields)


def other_label(answers: Mapping[Key, Prediction], labels: Collection[str]) -> str | None:
    """Return an answer that is none of the labels, None without one: the cell was asked for other labels."""
    texts = dict.fromkeys(prediction.answer for prediction in answers.values())
    return next((text for text in texts if text is not None and text not in labels), None)


def changed_parts(now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the parts in which two signatures differ, by their name for people, each as (then, now).

    A part that one of both lacks is no difference.
    """
    after, before = _parts(now), _parts(then)
    common = (name for name in after if name in before)
    return {name: (before[name], after[name]) for name in common if after[name] != before[name]}


def _chat(used: str, facts: str) -> dict[str, str]:
    """What is known about a chat format, by name: of two that differ in one fact, a sentence names this fact."""
    named = (fact.partition(": ") for fact in facts.split("; ") if fact)
    return {"chat": used, **{name: fact for name, _, fact in named}}


def _parts(signature: Mapping[str, Any]) -> dict[str, Any]:
    """The parts by name; threads, drivers and versions are all `the engine`."""
    engine = dict(signature.get("engine", {}))
    weights, answers = engine.pop("weights_sha256", None), engine.pop("answers_sha256", None)
    variant = engine.pop("variant", None)
    chat = _chat(engine.pop("chat"), engine.pop("chat_format")) if "chat_format" in engine else None
    code = {PARSER: "parser_sha256", "the code of the scenario": "scenario_sha256"}
    return {
        DATA: (signature.get("data") or {}).get("sha256"),
        "the prompt template": signature.get("template_sha256"),
        **{name: signature[key] for name, key in code.items() if key in signature},
        "the model": weights or answers,
        "the variant": variant,
        **({} if chat is None else {"the chat format": chat}),
        "the seed": signature.get("seed"),
        "the repeats": signature.get("repeats"),
        "the retries": signature.get("retries", 0),
        "the prompt suffix": signature.get("prompt_suffix", ""),
        SUBJECTS: signature.get("subjects"),
        "the way of decoding": signature.get("generation"),
        "the engine": engine,
        **{f"the {name}": signature[name] for name in ("judge", "rubrics") if name in signature},
    }
