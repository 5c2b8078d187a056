"""The change of a metric between two sets of answers, and what a comparison of two cells needs of each."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.measure import LEVEL

#: Where fewer samples changed, the interval of a change is approximate.
FEW_CHANGED = 5


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
    new_parse_failures: int = 0
    fixed_parse_failures: int = 0
    quotient: bool = False
    numbers: bool = False
    share: bool = False
    thin: bool = False
    level: float = LEVEL

    @property
    def approximate(self) -> bool:
        """Whether the interval may hold less than 93 of 100 truths."""
        return self.thin or 0 < self.changed < FEW_CHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapReplicates:
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
