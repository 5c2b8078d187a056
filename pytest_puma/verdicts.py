"""The verdicts of a cell: each of its gates, held against a measure, the baseline, or a trivial program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_puma.baseline import Entry
from pytest_puma.core import Gate, Measure, Policy, Verdict
from pytest_puma.gates import judge, judge_change, judge_decline, not_run, without_baseline
from pytest_puma.metrics import Answers, Pairs
from pytest_puma.references import Reference
from pytest_puma.stats import LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A cell's answers beside other ones to the same samples: what sentences call those, and what changed since."""

    pairs: Pairs
    name: str
    against: str
    changed: tuple[str, ...] = ()
    level: float = LEVEL

    @classmethod
    def to_baseline(cls, answers: Answers, signature: Mapping[str, Any], entry: Entry, *, level: float) -> Comparison:
        """To what the cell answered before, with intervals of a level."""
        pairs = answers.beside(entry.answers)
        name = f"baseline {entry.commit}" if entry.commit else "the baseline"
        same = len(pairs) == len(answers) == len(entry.answers)
        against = name if same else f"{name} on the {len(pairs)} samples that both have"
        return cls(pairs=pairs, name=name, against=against, changed=entry.changed(signature), level=level)

    @classmethod
    def to_reference(cls, answers: Answers, name: str, reference: Reference) -> Comparison:
        """To what a trivial program answers."""
        return cls(pairs=answers.beside(reference.answers), name=name, against=name)

    def judge(self, gate: Gate, policy: Policy) -> Verdict:
        """Hold the difference in the gate's metric against its limit."""
        if not len(self.pairs):
            return without_baseline(gate, f"no sample of this run is among those of {self.name}", policy)
        verdict = self._tested(gate, policy) if gate.word else self._limited(gate, policy)
        since = f"; changed since: {', '.join(self.changed)}" if self.changed else ""
        return replace(verdict, reason=verdict.reason + since)

    def _limited(self, gate: Gate, policy: Policy) -> Verdict:
        change = self.pairs.change(gate.metric, quotient=gate.quotient, level=self.level)
        if change is None:
            return not_run(gate, f"{gate.metric} was not measured here or in {self.name}")
        return judge_change(gate, change, self.against, policy, level=self.level)

    def _tested(self, gate: Gate, policy: Policy) -> Verdict:
        decline = self.pairs.decline()
        change = self.pairs.change("mae" if decline.numbers else "accuracy", level=self.level)
        return judge_decline(gate, decline, change, self.against, policy)


def verdicts(
    gates: Sequence[Gate], measures: Mapping[str, Measure], others: Mapping[str, Comparison], policy: Policy
) -> tuple[Verdict, ...]:
    """One for each gate of a cell; `others` are those that there are, by the gates' name for them."""
    return tuple(
        judge(gate, measures) if gate.other is None else _judge(gate, others.get(gate.other), policy) for gate in gates
    )


def _judge(gate: Gate, comparison: Comparison | None, policy: Policy) -> Verdict:
    if gate.other == "baseline" and policy.accepts:
        return not_run(gate, "not compared with the baseline: this run becomes the baseline")
    if comparison is not None:
        return comparison.judge(gate, policy)
    if gate.other == "baseline":
        return without_baseline(gate, "there is none yet; --puma-update-baseline makes one", policy)
    return not_run(gate, f"{gate.other} has too few samples of some label to learn from")
