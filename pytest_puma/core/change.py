"""Changes between two sets of answers to the same samples: of a metric, of all answers, of a series of baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_puma.core.metric import LEVEL, Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the losses of `n` independent questions moved between two sets of answers, in the unit of a metric.

    Trials of one question are one observation. `moved`: the mean absolute change of a question. `size`: the size of
    equal changes with the same mean and the same spread; `unseen`: the assumed size of a change that was not observed,
    which is that between the answers to two different questions. `width`: the distance between the bounds of the
    metric, 0 if it has none. For right and wrong answers all sizes are 1.
    """

    n: float
    moved: float
    size: float = 1.0
    unseen: float = 1.0
    width: float = 1.0


#: The paired test that is about a metric itself.
PairedTest: TypeAlias = Literal["mcnemar", "permutation", "bootstrap"]
#: With fewer changed samples the interval of a change is approximate.
FEW_CHANGED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Paired change of a metric between two sets of answers to the same `n` samples.

    `old` and `new` are the two values; `value` is `new - old`, or `new / old` if `quotient`; `low` and `high` are the
    paired interval of `value` at `level`; all are NaN if there is nothing to measure. `worse` and `better` count
    answers that went from right to wrong and back; if they are `graded`, those that moved away from the gold label and
    towards it; if they are `scored` by the metric itself, those with a worse and a better score. `changed` counts the
    samples whose contribution to the metric changed, which may be others: a wrong answer that became another wrong one,
    a probability, a number of tokens. If the metric is over parsed answers, the `n` samples are those parsed in both
    sets; `new_parse_failures` counts those parsed before and not now, `fixed_parse_failures` the reverse; both are None
    for any other metric. `share`: the metric has bounds, so that its points are hundredths. `thin`: the interval rests
    on few rows or on few large changes, or the metric itself has no interval. `test`: the paired test about the metric.
    `spread`: how far the losses moved, None if unknown. `several`: samples have several trials, whose mean is counted.
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
    new_parse_failures: int | None = None
    fixed_parse_failures: int | None = None
    quotient: bool = False
    graded: bool = False
    scored: bool = False
    test: PairedTest = "bootstrap"
    share: bool = False
    thin: bool = False
    several: bool = False
    level: float = LEVEL
    spread: Spread | None = None

    @property
    def more_parse_failures(self) -> int:
        """New parse failures minus fixed ones; 0 if they are not counted."""
        return (self.new_parse_failures or 0) - (self.fixed_parse_failures or 0)

    @property
    def approximate(self) -> bool:
        """Whether the coverage of the interval may be below 93 %."""
        return self.thin or 0 < self.changed < FEW_CHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapReplicates:
    """A metric of one cell, for comparisons with other cells: its `value`, and its `values` in bootstrap resamples.

    Cells with the same samples (`samples` is their digest) have the same resamples, drawn with `seed`. `errors`: the
    error of each of the `answers`, as `Change` counts them. `inputs`: the contribution of each row to the metric
    (rows x columns), NaN if it contributes nothing; empty for a metric without per-row contributions. `graded`: an
    error can be more or less than 1. `scored`: errors are those of the metric, not of the answers. `bounds`: the
    minimum and the maximum of the metric, empty if it has none. `units`: the units of each row, empty if all rows are
    independent. `bare`: the metric itself has no interval. `better`: which values are better. `test`: the paired test
    about the metric. `rebuild`: the function that computes the metric again from the `inputs` of some rows
    (`metrics.kernels`). `questions`: the question of each row if questions have several trials, else empty. `groups`:
    the group of each row if the metric is the mean over groups of different sizes, -1 for a row in none; else empty.
    """

    metric: str
    samples: str
    value: float
    values: tuple[float, ...]
    errors: tuple[float, ...]
    answers: tuple[str | None, ...]
    inputs: tuple[tuple[float, ...], ...]
    seed: int
    graded: bool
    bounds: tuple[float, ...] = ()
    units: tuple[tuple[str, ...], ...] = ()
    bare: bool = False
    better: Direction = "high"
    test: PairedTest = "bootstrap"
    rebuild: str = ""
    scored: bool = False
    questions: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A cell compared with another cell, or with its baseline, on the same samples.

    `tests`: the p-values of all paired tests that suit the answers; `test`: the name of the metric's own test; `p`: its
    p-value; `adjusted`: `p` corrected for all contrasts of the table. Effect sizes compare errors and are above 0 if
    the cell is better: `rank_biserial` is paired by sample, `cliffs_delta` is over all pairs of samples.
    """

    cell: str
    against: str
    change: Change
    test: str
    p: float
    adjusted: float
    tests: Mapping[str, float]
    rank_biserial: float
    cliffs_delta: float


#: A regression is detected if `Decline.p` is at most this: the false alarm rate if nothing became worse.
REGRESSION_LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """One-sided test for `n` answers that are worse than older answers to the same samples.

    `worse` and `better` count answers that went from right to wrong and back; if answers are `graded`, those that
    moved away from the gold label and towards it. `p` is the combined p-value; `tests` has that of each test by name.
    `loss` is the mean rise of the Brier score, with the probabilities of each side at their best-fitting temperature;
    None if only answers count, for the reason `alone`. `spread`: how far the losses moved. `same`: nothing changed at
    all. `several`: questions have several trials, and are counted in place of answers: those with fewer right answers,
    and those with more.
    """

    n: int
    worse: int
    better: int
    p: float
    spread: Spread
    tests: Mapping[str, float] = field(default_factory=dict)
    loss: float | None = None
    alone: str = ""
    graded: bool = False
    same: bool = False
    several: bool = False

    @property
    def is_regression(self) -> bool:
        """Whether the test detects a regression."""
        return self.p <= REGRESSION_LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Evidence for a decline since the anchor, summed over `renewals` of the baseline and this run.

    `total` is the cumulative sum of `pytest_puma.stats.power`.
    """

    total: float
    renewals: int
