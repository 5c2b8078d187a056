"""Numbers and what is said of them: measures, changes of a measure, gates and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core.power import Power

Status: TypeAlias = Literal["PASS", "FAIL", "INCONCLUSIVE", "NO BASELINE", "NOT RUN"]
#: What becomes of a verdict that the samples are too few for: it is told, it fails, or the value alone decides.
Doubt: TypeAlias = Literal["warn", "fail", "point"]
#: What becomes of a gate that finds no baseline.
Missing: TypeAlias = Literal["warn", "fail"]
#: The confidence level of an interval.
LEVEL = 0.95
#: Where fewer samples changed, the interval of a change is approximate.
FEW_TURNS = 5
#: Gates of one word, which are tests of a whole cell.
REGRESSION, DRIFT = "no_regression", "no_drift"
WORDS = (REGRESSION, DRIFT)
DOUBTS: tuple[Doubt, ...] = get_args(Doubt)
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A metric's value with its interval and the number of predictions behind it.

    `value` is NaN where there is nothing to measure (n = 0); `low` and `high` are NaN where no
    interval exists. `note` says what a reader must know to trust it. `level` is that of the interval.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    note: str = ""
    level: float = LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a metric between two sets of answers to the same `n` samples.

    `old` and `new` are its values; `value` is `new - old`, or `new / old` where `quotient`; `low` and `high` are the
    paired interval of `value` at a `level`; all are NaN where there is nothing to measure. `worse` and `better` count
    answers that went from right to wrong and back; where answers are `numbers`, those that are farther off and nearer.
    `changed` counts the samples that give the metric something else than before, which may be other ones: a wrong
    answer that became another wrong one, a probability, a number of tokens. Of a metric over parsed answers, the `n`
    samples are those parsed in both sets; `unread` counts those parsed before and not now, `read_again` the reverse.
    `share`: the metric has bounds, so that its points are hundredths. `thin`: the interval rests on few rows, or on few
    large changes, or is of a metric that has none itself.
    """

    metric: str
    old: float
    new: float
    value: float
    low: float
    high: float
    n: int
    worse: int
    better: int
    changed: int = 0
    unread: int = 0
    read_again: int = 0
    quotient: bool = False
    numbers: bool = False
    share: bool = False
    thin: bool = False
    level: float = LEVEL

    @property
    def approximate(self) -> bool:
        """Whether the interval may hold less than 93 of 100 truths."""
        return self.thin or 0 < self.changed < FEW_TURNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """A metric of one cell, for the comparison with another: its `value`, and what it is in each bootstrap resample.

    Cells that were asked the same samples, which `samples` is a digest of, have the same resamples, drawn with the
    `seed`. `errors` is how far off each of the `answers` is, as `Change` counts them; `inputs` is what each row gives
    to the metric (rows x columns), NaN where it gives nothing, and empty where only the metric's author knows;
    `numbers`: whether answers are numbers; `bounds`: the least and the greatest value of the metric, empty where it
    has none; `units`: those of each row where rows share any, empty where all rows are independent; `bare`: the metric
    itself has no interval.
    """

    metric: str
    samples: str
    value: float
    values: tuple[float, ...]
    errors: tuple[float, ...]
    answers: tuple[str | None, ...]
    inputs: tuple[tuple[float, ...], ...]
    seed: int
    numbers: bool
    bounds: tuple[float, ...] = ()
    units: tuple[tuple[str, ...], ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A limit that a metric must keep (the grammar is that of `pytest_puma.gates`).

    `metric op limit`, or one of the `WORDS`, which then is the `metric`, without `op` and limit. Where `other` names
    something to compare with (`baseline` or `reference.<name>`), `metric op other + limit`, or, where `quotient`,
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
    def reference(self) -> str | None:
        """The name of the trivial program to compare with, None where it is none."""
        kind, _, name = (self.other or "").partition(".")
        return name if kind == "reference" else None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of a measure, and why, in one sentence with the numbers; whether that fails the test.

    Of a gate on a change, `power` is what it can see; `level` is its rate of false alarms where nothing became worse.
    `p` is the p-value of a gate that is a test.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a project makes of verdicts that are neither kept nor missed.

    `accepts`: what this run measures becomes the baseline, so that nothing is held against the old one.
    """

    inconclusive: Doubt = "warn"
    missing_baseline: Missing = "warn"
    accepts: bool = False


def spelled(number: float) -> str:
    """The fewest digits that read back as the same number: 0.45, 5, -2.5."""
    return repr(float(number)).removesuffix(".0")
