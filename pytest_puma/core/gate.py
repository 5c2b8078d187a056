"""A gate as data, its verdict, and the policy of a project for gates that are neither kept nor missed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core.change import Change
from pytest_puma.core.metric import Measure
from pytest_puma.core.power import Power

#: Effect of a gate that the samples cannot decide: a warning, a failure, or a decision by the value alone.
Doubt: TypeAlias = Literal["warn", "fail", "point"]
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)
#: The other side of a gate on a variant: the same cell of the plain model.
PLAIN = "plain"
#: Gates of one word: tests of a whole cell.
REGRESSION, DRIFT = "no_regression", "no_drift"
WORDS = (REGRESSION, DRIFT)
_KEEPS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_NOISE = 1e-12  # of floating point: (0.7 + 0.7 + 0.7) / 3 is slightly below 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit that a metric must keep (grammar: `pytest_puma.gates.grammar`).

    `metric op limit`; or one of the `WORDS` as `metric`, without `op` and limit. If `other` names a comparison
    (`baseline`, `plain` or `naive.<name>`): `metric op other + limit`, or, if `quotient`, `metric op other * limit`.
    `doubt` is None if the setting of the project applies. Three forms concern several cells: with a `strategy`, `other`
    is a strategy too, and both name cells of one scenario and model; with `pick`, the metric is the maximum or the
    minimum over the cells along an `axis`, or the mean over the scenarios of a model; with `plain`, a variant is
    compared with its plain model.
    """

    metric: str
    op: str
    limit: float
    scope: str | None = None
    other: str | None = None
    quotient: bool = False
    doubt: Doubt | None = None
    strategy: str | None = None
    pick: Literal["max", "min", "mean"] | None = None
    axis: Literal["strategy", "model", "variant", "scenario"] | None = None

    def __str__(self) -> str:
        """Return the gate as users write it."""
        scope = "" if self.scope is None else f"{self.scope}: "
        if self.word:
            return f"{scope}{self.word}{'' if self.doubt is None else f' !{self.doubt}'}"
        left = self.metric if self.strategy is None else f"{self.strategy}.{self.metric}"
        picked = left if self.pick is None else f"{self.pick}({left} over {self.axis})"
        doubt = "" if self.doubt is None else f" !{self.doubt}"
        return f"{scope}{picked} {self.rule}{doubt}"

    @property
    def word(self) -> str | None:
        """The word of a one-word gate; None if the gate limits a metric."""
        return self.metric if self.metric in WORDS else None

    @property
    def is_cross_cell(self) -> bool:
        """Whether the gate concerns several cells."""
        return self.strategy is not None or self.pick is not None or self.other == PLAIN

    @property
    def is_floor(self) -> bool:
        """Whether the limit is a minimum of the metric."""
        return self.op in {">=", ">"}

    def keeps(self, number: float) -> bool:
        """Return whether a number keeps the limit."""
        return _KEEPS[self.op](without_noise(number, self.limit), self.limit)

    def decided_by(self, low: float, high: float) -> bool:
        """Return whether all numbers from `low` to `high` are on the same side of the limit.

        An interval that ends at the limit contains it: then `>` and `<` are not surely missed.
        """
        ends = {without_noise(end, self.limit) for end in (low, high)}
        kept = {self.keeps(end) for end in ends}
        return len(kept) == 1 and (len(ends) == 1 or self.limit not in ends or True in kept)

    @property
    def naive(self) -> str | None:
        """The naive baseline to compare with; None if the gate names none."""
        kind, _, name = (self.other or "").partition(".")
        return name if kind == "naive" else None

    @property
    def rule(self) -> str:
        """Operator and limit: `>= baseline - 0.02`."""
        if self.other is None:
            return f"{self.op} {spelled(self.limit)}"
        other = self.other if self.strategy is None else f"{self.other}.{self.metric}"
        if self.quotient:
            return f"{self.op} {other} * {spelled(self.limit)}"
        if not self.limit:
            return f"{self.op} {other}"
        return f"{self.op} {other} {'-' if self.limit < 0 else '+'} {spelled(abs(self.limit))}"


def spelled(number: float) -> str:
    """Return the shortest text that reads back as the same number: 0.45, 5, -2.5."""
    return repr(float(number) + 0.0).removesuffix(".0")  # -0.0 becomes 0.0


def without_noise(number: float, limit: float) -> float:
    """Return the limit if a number differs from it by no more than floating-point errors, else the number."""
    return limit if math.isclose(number, limit, rel_tol=_NOISE, abs_tol=_NOISE) else number


Status: TypeAlias = Literal["PASS", "FAIL", "INCONCLUSIVE", "NO BASELINE", "NEW BASELINE", "NOT RUN"]
#: Effect of a missing baseline on a gate that needs one.
Missing: TypeAlias = Literal["warn", "fail"]
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision of a gate: its `status`, the `reason` as a sentence with the numbers, and whether the test `fails`.

    `power` and `level` belong to a gate on a change: its power, and its false alarm rate if nothing became worse. `p`
    is the p-value of a gate that is a test.
    """

    gate: Gate
    status: Status
    reason: str
    fails: bool
    measure: Measure | None = None
    change: Change | None = None
    power: Power | None = None
    level: float | None = None
    p: float | None = None

    @property
    def is_judged(self) -> bool:
        """Whether there was something to judge."""
        return self.status in {"PASS", "FAIL", "INCONCLUSIVE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of the gates of a run: those `judged`, those of them `undecided`, and the chance of a false alarm.

    `on_change` counts the judged gates that test a change. `false_alarm` is the probability that at least one of them
    FAILs although each true change keeps its limit, if they are independent; `at_most`, the sum of their levels, bounds
    it.
    """

    judged: int
    undecided: int
    on_change: int
    false_alarm: float
    at_most: float

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Tally:
        """Count verdicts, without those of gates that were not judged."""
        judged = [verdict for verdict in verdicts if verdict.is_judged]
        levels = [verdict.level for verdict in judged if verdict.level is not None]
        return cls(
            judged=len(judged),
            undecided=sum(verdict.status == "INCONCLUSIVE" for verdict in judged),
            on_change=len(levels),
            false_alarm=1 - math.prod(1 - level for level in levels),
            at_most=min(1.0, sum(levels)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Policy of a project for gates that are neither kept nor missed.

    `accepts`: the results of this run become the baseline, so that no gate compares them with the old one.
    """

    inconclusive: Doubt = "warn"
    missing_baseline: Missing = "warn"
    accepts: bool = False
