"""A gate as data: the limit that a metric must keep, or a test of a whole cell by one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

#: What becomes of a gate that the samples cannot decide: a warning, a failure, or the value alone decides.
Doubt: TypeAlias = Literal["warn", "fail", "point"]
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)
#: Gates of one word, which are tests of a whole cell.
REGRESSION, DRIFT = "no_regression", "no_drift"
WORDS = (REGRESSION, DRIFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit that a metric must keep (the grammar is that of `pytest_puma.gates`).

    `metric op limit`, or one of the `WORDS`, which then is the `metric`, without `op` and limit. Where `other` names
    something to compare with (`baseline` or `naive.<name>`), `metric op other + limit`, or, where `quotient`,
    `metric op other * limit`. `doubt` is None where the project's choice holds. Two forms are about several cells:
    with a `strategy`, `other` is one too, and both name cells of one scenario and model; with `pick`, the metric is the
    greatest or least of the cells along an `axis`.
    """

    metric: str
    op: str
    limit: float
    scope: str | None = None
    other: str | None = None
    quotient: bool = False
    doubt: Doubt | None = None
    strategy: str | None = None
    pick: Literal["max", "min"] | None = None
    axis: Literal["strategy", "model"] | None = None

    def __str__(self) -> str:
        """As it is written."""
        scope = "" if self.scope is None else f"{self.scope}: "
        if self.word:
            return f"{scope}{self.word}{'' if self.doubt is None else f' !{self.doubt}'}"
        left = self.metric if self.strategy is None else f"{self.strategy}.{self.metric}"
        picked = left if self.pick is None else f"{self.pick}({left} over {self.axis})"
        doubt = "" if self.doubt is None else f" !{self.doubt}"
        return f"{scope}{picked} {self.rule}{doubt}"

    @property
    def word(self) -> str | None:
        """The gate itself where it is one word, None where it limits a metric."""
        return self.metric if self.metric in WORDS else None

    @property
    def across(self) -> bool:
        """Whether it is about several cells."""
        return self.strategy is not None or self.pick is not None

    @property
    def naive(self) -> str | None:
        """The name of the naive baseline to compare with; None if the gate names none."""
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
    """The fewest digits that read back as the same number: 0.45, 5, -2.5."""
    return repr(float(number)).removesuffix(".0")
