"""Two sets of answers to the same samples: what changed in a metric, with the paired interval of the change.

Both sets are resampled together, so that what is hard for both cancels out. Source of the paired bootstrap:
B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 8; for comparing systems on one test set:
P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Change, Draws, Flip, Prediction, Scenario
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.statistic import in_blocks
from pytest_puma.metrics.table import Table
from pytest_puma.stats import percentile_interval, resampling_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Values

#: Added to both sides of a quotient: nothing beside any error, but 0 / 0 is 1.
_TINY = 1e-9
#: An error beyond all others, of which there is a difference.
_FARTHEST = 1e300


def draw(scenario: Scenario, predictions: Sequence[Prediction], metric: str, *, seed: int) -> Draws | None:
    """A metric of one set of answers, in every resample; None where these answers do not give it."""
    table = Table.of(scenario, predictions)
    weights = resampling_weights([prediction.units for prediction in predictions], seed=seed)
    return _draw(scenario, table, metric, weights)


def between(new: Draws, old: Draws, *, quotient: bool) -> Change:
    """What a metric is in one set of answers beside another one to the same samples."""
    compare = _quotient if quotient else np.subtract
    value = float(compare(np.array(new.value), np.array(old.value)))
    low, high = percentile_interval(compare(np.array(new.values), np.array(old.values)))
    turned = np.array(new.errors) - np.array(old.errors)
    return Change(
        metric=new.metric,
        old=old.value,
        new=new.value,
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=len(turned),
        worse=int((turned > 0).sum()),
        better=int((turned < 0).sum()),
        quotient=quotient,
        numbers=new.numbers,
    )


class Pairs:
    """The samples that both sets answer; a sample's gold and units are those of the new set."""

    def __init__(
        self, scenario: Scenario, new: Sequence[Prediction], old: Mapping[str, Prediction], *, seed: int
    ) -> None:
        common = [prediction for prediction in new if prediction.sample_id in old]
        before = [replace(old[each.sample_id], gold=each.gold, units=each.units) for each in common]
        self._scenario = scenario
        self._tables = Table.of(scenario, common), Table.of(scenario, before)
        self._seed = seed

    def __len__(self) -> int:
        """The number of samples that both answer."""
        return len(self._tables[0])

    def change(self, metric: str, *, quotient: bool = False) -> Change | None:
        """What became of a metric; None where either set of answers does not give it, as one without probabilities."""
        new, old = (_draw(self._scenario, table, metric, self._weights) for table in self._tables)
        return None if new is None or old is None else between(new, old, quotient=quotient)

    def flips(self) -> tuple[Flip, ...]:
        """The samples whose answers became worse or better, in the order of the new set."""
        new, old = self._tables
        turned = _errors(self._scenario, new) - _errors(self._scenario, old)
        return tuple(
            Flip(sample_id=now.sample_id, gold=now.gold, old=before.answer, new=now.answer, better=turn < 0)
            for now, before, turn in zip(new.predictions, old.predictions, turned.tolist(), strict=True)
            if turn
        )

    @cached_property
    def _weights(self) -> NDArray[np.int32]:
        return resampling_weights([prediction.units for prediction in self._tables[0].predictions], seed=self._seed)


def _draw(scenario: Scenario, table: Table, metric: str, weights: NDArray[np.int32]) -> Draws | None:
    found = next((each for each in catalogue(scenario, table) if each.name == metric), None)
    if found is None or (found.optional and not found.n):
        return None
    names = json.dumps([(prediction.sample_id, prediction.units) for prediction in table.predictions])
    return Draws(
        metric=metric,
        samples=sha256(names.encode()).hexdigest(),
        value=float(found.kernel(np.ones((1, len(table))))[0]),
        values=tuple(in_blocks(weights[: found.resamples], found.kernel).tolist()),
        errors=tuple(_errors(scenario, table).tolist()),
        answers=tuple(prediction.answer for prediction in table.predictions),
        numbers=scenario.task_type == "regression",
    )


def _errors(scenario: Scenario, table: Table) -> NDArray[np.float64]:
    """How far off each answer is: 0 or 1, or the size of the error; one that was not read is farthest off."""
    wrong, errors = table.gold != table.answer, np.abs(table.answer_value - table.gold_value)
    far: Values = np.where(table.read, errors, _FARTHEST) if scenario.task_type == "regression" else 1.0 * wrong
    return far


def _quotient(new: Values, old: Values) -> Values:
    return (new + _TINY) / (old + _TINY)
