"""The change of a metric between two sets of answers, and the bootstrap replicates that a comparison of cells needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_puma.core.measure import LEVEL
from pytest_puma.core.metric import Direction
from pytest_puma.core.spread import Spread

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
    about the metric. `rebuild`: the function that computes the metric anew from the `inputs` of some rows
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
