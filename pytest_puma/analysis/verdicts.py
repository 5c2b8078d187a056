"""The verdicts of a cell: each of its gates, judged by a measure, the baseline, or a naive baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_puma.analysis import cautions
from pytest_puma.analysis.naive_baselines import NaiveBaseline
from pytest_puma.baseline.entry import DATA, Anchor, Entry
from pytest_puma.core import LEVEL, Drift, Gate, Measure, Policy, Verdict
from pytest_puma.core.gate import DRIFT
from pytest_puma.core.responder import NOT_VERIFIED, is_unverified
from pytest_puma.gates.judge import (
    becomes_baseline,
    judge,
    judge_change,
    judge_decline,
    judge_drift,
    not_run,
    nothing_measured,
    too_few_in_common,
    without_baseline,
)
from pytest_puma.metrics import PairedPredictions, ScoredPredictions, pair
from pytest_puma.stats.power import cusum

#: With fewer samples in common, a system that changes every eighth answer is unlikely (2.5 %) to change none of them.
MIN_COMMON = 30
#: Baselines store six digits of a number.
_STORED = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A cell's answers, paired with those of the anchor of its series, `name` in sentences.

    `same`: both have the same samples.
    """

    pairs: PairedPredictions
    anchor: Anchor
    name: str
    same: bool

    @classmethod
    def of(cls, answers: ScoredPredictions, entry: Entry) -> Series:
        """Pair the answers with those of the anchor of a baseline."""
        pairs, name = pair(answers, entry.start.answers), _marked(f"the anchor {entry.start.commit}".strip(), entry)
        return cls(
            pairs=pairs, anchor=entry.start, name=name, same=len(pairs) == len(answers) == len(entry.start.answers)
        )

    def drift(self) -> Drift | None:
        """Return the drift of the series with this run; None if other samples start a new series."""
        if not self.same:
            return None
        return replace(self.anchor.drift, total=cusum(self.anchor.drift.total, self.pairs.decline().p))

    def judge(self, gate: Gate, policy: Policy, *, level: float) -> Verdict:
        """Return the verdict on whether the series became worse."""
        drift, name = self.drift(), self.name
        if drift is None:
            noun = "trials" if any(trial for _, trial in self.anchor.answers) else "samples"
            both = f"{len(self.pairs)} of the {len(self.anchor.answers)} {noun} of {name} were asked here"
            return without_baseline(gate, f"{both}; --puma-update-baseline starts a new series", policy)
        decline = self.pairs.decline()
        change = self.pairs.change(self.pairs.decisive_metric, level=level)
        return judge_drift(gate, drift, decline, change, name, policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A cell's answers, paired with others to the same samples; `name`, `against`: these in sentences.

    `lacking`: the number of samples of the cell without an earlier answer; `unasked`: of samples with an earlier answer
    that the cell does not have. `thin`: there are some, and so few others that equal
    answers do not show that nothing changed. `then`: the decisive metric of the earlier answers by the right answers of
    then; None if it is unknown, or of other samples.
    """

    pairs: PairedPredictions
    name: str
    against: str
    changed: tuple[str, ...] = ()
    then: float | None = None
    lacking: int = 0
    unasked: int = 0
    thin: bool = False
    level: float = LEVEL
    series: Series | None = None

    @classmethod
    def to_baseline(
        cls,
        answers: ScoredPredictions,
        signature: Mapping[str, Any],
        entry: Entry,
        *,
        level: float,
        watched: bool = False,
    ) -> Comparison:
        """Compare with the baseline of the cell, with intervals of a level; `watched`: a gate is about its series."""
        pairs = pair(answers, entry.answers)
        name = _marked(f"baseline {entry.commit}" if entry.commit else "the baseline", entry)
        new, old = {prediction.key for prediction in answers.predictions}, entry.answers.keys()
        new_ids, old_ids, common = ({sample for sample, _ in keys} for keys in (new, old, new & old))
        # Of samples that both have, one may have more trials.
        both = f"{len(new & old)} trials" if new_ids == old_ids else f"{len(common)} samples"
        return cls(
            pairs=pairs,
            name=name,
            against=name if new == old else f"{name} on the {both} that both have",
            changed=entry.changed(signature),
            then=entry.measures.get(pairs.decisive_metric, {}).get("value") if new == old else None,
            lacking=len(new_ids - old_ids),
            unasked=len(old_ids - new_ids),
            thin=not new_ids <= old_ids and len(common) < MIN_COMMON,
            level=level,
            series=Series.of(answers, entry) if watched else None,
        )

    @classmethod
    def to_naive_baseline(cls, answers: ScoredPredictions, name: str, naive: NaiveBaseline) -> Comparison:
        """Compare with a naive baseline: its one answer to a sample is compared with that of every trial."""
        old = {prediction.key: naive.answers[prediction.sample_id] for prediction in answers.predictions}
        return cls(pairs=pair(answers, old), name=name, against=name)

    def judge(self, gate: Gate, policy: Policy) -> Verdict:
        """Return the verdict on the difference in the gate's metric."""
        if gate.word == DRIFT and self.series is not None:
            return self.series.judge(gate, policy, level=self.level)
        if not len(self.pairs):
            return without_baseline(gate, f"no sample of this run is among those of {self.name}", policy)
        if not gate.word and not self.pairs.covers(gate.metric):
            return without_baseline(gate, f"no sample of {gate.metric} is among those of {self.name}", policy)
        verdict = self._tested(gate, policy) if gate.word else self._limited(gate, policy)
        since = f"; changed since: {', '.join(self.changed)}" if self.changed else ""
        return replace(verdict, reason=verdict.reason + since)

    def on_changed_data(self, verdicts: Iterable[Verdict]) -> Iterator[str]:
        """Yield a sentence if the data changed, and gates on the baseline were judged.

        It gives the number of the baseline by the right answers of then and of today, if these differ. Without them,
        it is left out if the sentence of a gate reports the change: that of one that does not pass; that of
        `no_drift` is about the anchor.
        """
        judged = [verdict for verdict in verdicts if verdict.gate.other == "baseline" and verdict.is_judged]
        if DATA not in self.changed or not judged:
            return
        metric = self.pairs.decisive_metric
        change = None if self.then is None else self.pairs.change(metric, level=self.level)
        if change is not None and not math.isclose(change.old, self.then or 0.0, rel_tol=_STORED, abs_tol=_STORED):
            yield cautions.on_changed_data(self.name, f"{metric} {change.old:.3g} in place of {self.then:.3g}")
        elif not any(verdict.status != "PASS" and verdict.gate.word != DRIFT for verdict in judged):
            yield cautions.on_changed_data(self.name)

    def _limited(self, gate: Gate, policy: Policy) -> Verdict:
        change = self.pairs.change(gate.metric, quotient=gate.quotient, level=self.level)
        if change is None:
            return not_run(gate, f"{gate.metric} was not measured here or in {self.name}")
        verdict = judge_change(gate, change, self.against, policy, level=self.level)
        return too_few_in_common(verdict, policy) if self.thin and not change.changed else verdict

    def _tested(self, gate: Gate, policy: Policy) -> Verdict:
        decline = self.pairs.decline()
        if self.thin:
            decline = replace(decline, same=False)
        change = self.pairs.change(self.pairs.decisive_metric, level=self.level)
        return judge_decline(gate, decline, change, self.against, policy)


def _marked(name: str, entry: Entry) -> str:
    """The name of a baseline, with the mark of answers behind which nobody knows the weights."""
    return f"{name} (weights {NOT_VERIFIED})" if is_unverified(entry.signature.get("engine")) else name


def verdicts(
    gates: Sequence[Gate],
    measures: Mapping[str, Measure],
    others: Mapping[str, Comparison],
    policy: Policy,
    *,
    no_baseline: str,
) -> tuple[Verdict, ...]:
    """Return the verdict of each gate of a cell; `others` are the comparisons, by their names in gates.

    `no_baseline`: why there is no comparison with the baseline, if there is none.
    """
    return tuple(
        judge(gate, measures)
        if gate.other is None
        else _judge(gate, measures.get(gate.metric), others.get(gate.other), policy, no_baseline)
        for gate in gates
    )


def _judge(
    gate: Gate, measure: Measure | None, comparison: Comparison | None, policy: Policy, no_baseline: str
) -> Verdict:
    if gate.other == "baseline" and policy.accepts:
        return becomes_baseline(gate)
    if measure is not None and not measure.n:
        return nothing_measured(gate, measure)
    if comparison is not None:
        return comparison.judge(gate, policy)
    if gate.other == "baseline":
        return without_baseline(gate, no_baseline, policy)
    return not_run(gate, f"{gate.other} has too few samples of some label to learn from")
