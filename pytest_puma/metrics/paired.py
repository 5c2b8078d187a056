"""Two sets of answers to the same samples: what changed in a metric, with the paired interval of the change.

Both sets are resampled together, so that what is hard for both cancels out. Source of the paired bootstrap:
B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 8; for comparing systems on one test set:
P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Change, Flip, Prediction, Scenario
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.statistic import Statistic, in_blocks
from pytest_puma.metrics.table import Table
from pytest_puma.stats import percentile_interval, resampling_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Values

#: Added to both sides of a quotient: nothing beside any error, but 0 / 0 is 1.
_TINY = 1e-9


class Pairs:
    """The samples that both sets answer; a sample's gold and units are those of the new set."""

    def __init__(
        self, scenario: Scenario, new: Sequence[Prediction], old: Mapping[str, Prediction], *, seed: int
    ) -> None:
        common = [prediction for prediction in new if prediction.sample_id in old]
        self._scenario = scenario
        self._seed = seed
        self._numbers = scenario.task_type == "regression"
        self._units = [prediction.units for prediction in common]
        self._new = Table.of(scenario, common)
        self._old = Table.of(
            scenario, [replace(old[each.sample_id], gold=each.gold, units=each.units) for each in common]
        )

    def __len__(self) -> int:
        """The number of samples that both answer."""
        return len(self._new)

    def change(self, metric: str, *, quotient: bool = False) -> Change | None:
        """What became of a metric; None where either set of answers does not give it, as one without probabilities."""
        new, old = self._statistics[0].get(metric), self._statistics[1].get(metric)
        if new is None or old is None:
            return None
        compare = _quotient if quotient else np.subtract
        resampled = in_blocks(
            self._weights[: new.resamples], lambda block: compare(new.kernel(block), old.kernel(block))
        )
        low, high = percentile_interval(resampled)
        unit = np.ones((1, len(self)))
        values = float(old.kernel(unit)[0]), float(new.kernel(unit)[0])
        value = float(compare(np.array(values[1:]), np.array(values[:1]))[0])
        return Change(
            metric=metric,
            old=float(old.kernel(unit)[0]),
            new=float(new.kernel(unit)[0]),
            value=value,
            low=min(low, value),
            high=max(high, value),
            n=len(self),
            worse=int((self._turned > 0).sum()),
            better=int((self._turned < 0).sum()),
            quotient=quotient,
            numbers=self._numbers,
        )

    @cached_property
    def _statistics(self) -> tuple[dict[str, Statistic], dict[str, Statistic]]:
        """By name, of the new answers and of the old."""
        return self._of(self._new), self._of(self._old)

    def _of(self, table: Table) -> dict[str, Statistic]:
        return {each.name: each for each in catalogue(self._scenario, table) if each.n or not each.optional}

    @cached_property
    def _weights(self) -> NDArray[np.int32]:
        return resampling_weights(self._units, seed=self._seed)

    def flips(self) -> tuple[Flip, ...]:
        """The samples whose answers became worse or better, in the order of the new set."""
        rows = zip(self._new.predictions, self._old.predictions, self._turned.tolist(), strict=True)
        return tuple(
            Flip(sample_id=new.sample_id, gold=new.gold, old=old.answer, new=new.answer, better=turn < 0)
            for new, old, turn in rows
            if turn
        )

    @cached_property
    def _turned(self) -> NDArray[np.int_]:
        """1 for each answer that became worse, -1 for each that became better, else 0."""
        new, old = _badness(self._new, numbers=self._numbers), _badness(self._old, numbers=self._numbers)
        return (new > old).astype(np.int_) - (new < old).astype(np.int_)


def _badness(table: Table, *, numbers: bool) -> NDArray[np.float64]:
    """How far off each answer is: 0 or 1, or the size of the error; one that was not read is farthest off."""
    wrong, errors = table.gold != table.answer, np.abs(table.answer_value - table.gold_value)
    badness: Values = np.where(table.read, errors, np.inf) if numbers else wrong.astype(np.float64)
    return badness


def _difference(new: Values, old: Values) -> Values:
    return new - old


def _quotient(new: Values, old: Values) -> Values:
    return (new + _TINY) / (old + _TINY)
