"""One cell of a baseline: its measures for people, its answers for the comparison sample by sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_puma.core import CellId, Drift, Outcome, Prediction, Usage

#: The measures of a clock: those of another machine or hour say nothing.
TIMED = ("latency_mean",)
#: Significant digits of a measure and of a probability: more would change with every processor.
_DIGITS = 6
_NUMBERS = ("value", "low", "high", "n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The baseline that a series of renewed ones started from: its commit, its answers, and the `drift` since then."""

    commit: str
    answers: Mapping[str, Prediction]
    drift: Drift = field(default_factory=lambda: Drift(total=0.0, renewals=0))

    def renewed(self, drift: Drift) -> Anchor:
        """The same one after one more renewal of the baseline."""
        return replace(self, drift=replace(drift, renewals=drift.renewals + 1))

    def head(self) -> dict[str, Any]:
        """For the file that people read."""
        return {"commit": self.commit, "cusum": _rounded(self.drift.total), "renewals": self.drift.renewals}

    def columns(self) -> dict[str, Any]:
        """For the file beside it."""
        return _columns(self.answers)

    @classmethod
    def read(cls, head: Mapping[str, Any], columns: Mapping[str, Any]) -> Anchor:
        """Back from `head` and `columns`; errors as in `Entry.read`."""
        drift = Drift(total=float(head["cusum"]), renewals=int(head["renewals"]))
        return cls(commit=head["commit"], answers=_answers(columns), drift=drift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A cell as it was. `measures` has the numbers of each metric, null for NaN; `test` is the id of its function.

    `commit` is the commit that the numbers come from, as in `main@3f2c1d9`, empty where there was none. `answers` are
    the predictions by sample id, without their texts. `anchor` is there where a gate on drifts is, from the first
    renewal on.
    """

    cell: str
    commit: str
    test: str
    signature: Mapping[str, Any]
    measures: Mapping[str, Mapping[str, float | None]]
    answers: Mapping[str, Prediction]
    anchor: Anchor | None = None

    @classmethod
    def of(cls, outcome: Outcome, *, commit: str, test: str, old: Entry | None = None) -> Entry:
        """What is kept of an outcome; `old` is the entry that it renews."""
        measures = {
            name: {number: _rounded(getattr(measure, number)) for number in _NUMBERS}
            for name, measure in sorted(outcome.measures.items())
            if name not in TIMED
        }
        return cls(
            cell=outcome.cell,
            commit=commit,
            test=test,
            signature=outcome.signature,
            measures=measures,
            answers={prediction.sample_id: _kept(prediction) for prediction in outcome.predictions},
            anchor=None if old is None or outcome.drift is None else old.start.renewed(outcome.drift),
        )

    @property
    def scenario(self) -> str:
        """The name of the scenario, which has no hyphen."""
        return CellId.parse(self.cell).scenario

    @property
    def twin(self) -> str:
        """The cell itself, or, of a perturbed one, that of the samples as they are."""
        return str(CellId.parse(self.cell).without("perturbation"))

    @property
    def start(self) -> Anchor:
        """Where the series of baselines started: here, if there is no anchor."""
        return self.anchor or Anchor(commit=self.commit, answers=self.answers)

    @property
    def model(self) -> str:
        """The name of the model."""
        return CellId.parse(self.cell).model

    def changed(self, signature: Mapping[str, Any]) -> tuple[str, ...]:
        """What is no longer as it was, in words, where the cell's signature is this one now."""
        now, then = _parts(signature), _parts(self.signature)
        return tuple(name for name in now if now[name] != then[name])

    def head(self) -> dict[str, Any]:
        """For the file that people read."""
        anchor = {} if self.anchor is None else {"anchor": self.anchor.head()}
        own = {"test": self.test, "commit": self.commit, "measures": self.measures, "signature": self.signature}
        return own | anchor

    def columns(self) -> dict[str, Any]:
        """For the file beside it."""
        return _columns(self.answers)

    @classmethod
    def read(
        cls, cell: str, head: Mapping[str, Any], columns: Mapping[str, Any], anchor: Anchor | None = None
    ) -> Entry:
        """Back from `head` and `columns`; a `KeyError`, `TypeError` or `ValueError` where they are no such thing."""
        known = {name: head[name] for name in ("commit", "test", "signature", "measures")}
        return cls(cell=cell, answers=_answers(columns), anchor=anchor, **known)


def _columns(predictions: Mapping[str, Prediction]) -> dict[str, Any]:
    """The answers by sample id as columns of equal length."""
    answers = predictions.values()
    known = [prediction.probabilities for prediction in answers]
    return {
        "ids": list(predictions),
        "answers": [prediction.answer for prediction in answers],
        "finish": [prediction.finish for prediction in answers],
        "tokens": [_tokens(prediction.usage) for prediction in answers],
        "probabilities": known if any(known) else None,
    }


def _answers(columns: Mapping[str, Any]) -> dict[str, Prediction]:
    """Back from `_columns`."""
    probabilities = columns["probabilities"] or [None] * len(columns["ids"])
    rows = zip(columns["ids"], columns["answers"], columns["finish"], columns["tokens"], probabilities, strict=True)
    return {
        sample_id: Prediction(
            sample_id=sample_id,
            gold="",
            answer=answer,
            finish=finish,
            usage=Usage(prompt_tokens=prompt, cached_tokens=cached, decoded_tokens=decoded),
            probabilities=known,
        )
        for sample_id, answer, finish, (prompt, cached, decoded), known in rows
    }


def _parts(signature: Mapping[str, Any]) -> dict[str, object]:
    """What people would call by a name; threads, drivers and versions are all the engine."""
    engine = dict(signature["engine"])
    weights = engine.pop("weights_sha256", None)
    return {
        "the data": (signature["data"] or {}).get("sha256"),
        "the prompt template": signature["template_sha256"],
        "the model": weights,
        "the seed": signature["seed"],
        "the way of decoding": signature["generation"],
        "the engine": engine,
    }


def _kept(prediction: Prediction) -> Prediction:
    """What a comparison needs; the gold is that of the data when it is made."""
    known = prediction.probabilities
    rounded = known and {label: float(f"{value:.{_DIGITS}g}") for label, value in known.items()}
    return Prediction(
        sample_id=prediction.sample_id,
        gold="",
        answer=prediction.answer,
        probabilities=rounded,
        finish=prediction.finish,
        usage=prediction.usage,
    )


def _tokens(usage: Usage) -> tuple[int, int, int]:
    return usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens


def _rounded(number: float) -> float | None:
    return None if math.isnan(number) else float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number
