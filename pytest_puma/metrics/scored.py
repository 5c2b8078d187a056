"""The answers of a cell, ready to be measured: laid out, and resampled, once for all who ask."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import BootstrapReplicates, Flip, Key, Measure, Prediction, Scenario
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.decline import decline
from pytest_puma.metrics.measuring import measure
from pytest_puma.metrics.own import Repeated
from pytest_puma.metrics.paired import between
from pytest_puma.metrics.statistic import Statistic, in_blocks
from pytest_puma.metrics.table import Table
from pytest_puma.stats import LEVEL, Resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_puma.core import Change
    from pytest_puma.core.decline import Decline

#: An error beyond all others, of which there is a difference.
_FARTHEST = 1e300


class ScoredPredictions:
    """Predictions of one scenario. The same ones with the same seed, or resamples, give the same numbers."""

    def __init__(
        self, scenario: Scenario, predictions: Sequence[Prediction], *, seed: int, resamples: Resamples | None = None
    ) -> None:
        self.scenario = scenario
        self.predictions = predictions
        own = Resamples([prediction.units for prediction in predictions], seed=seed)
        self.resamples = own if resamples is None else resamples
        self._replicates: dict[str, BootstrapReplicates | None] = {}

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.predictions)

    def measures(
        self, *, level: float = LEVEL, left: float = 1.0, only: Collection[str] | None = None
    ) -> dict[str, Measure]:
        """By metric, the primary one first. A metric of probabilities is left out where no prediction carries any.

        `level` and `left` are those of the intervals (`measuring.measure`); `only` names the metrics where not all are
        wanted. Rows that share units are not independent: then all intervals resample units.
        """
        wanted = [
            each
            for each in self._statistics.values()
            if (each.n or not each.optional) and (only is None or each.name in only)
        ]
        return {found.metric: found for found in measure(wanted, self.resamples, level=level, left=left)}

    def value(self, metric: str) -> float:
        """The metric without its interval; a `KeyError` where the scenario has none of this name."""
        return float(self._statistics[metric].kernel(np.ones((1, len(self))))[0])

    def own(self) -> dict[str, Repeated]:
        """The scenario's own metrics by name, with the time that they took so far."""
        kernels = ((name, found.kernel) for name, found in self._statistics.items())
        return {name: kernel for name, kernel in kernels if isinstance(kernel, Repeated)}

    def statistic(self, metric: str) -> Statistic | None:
        """The metric over these answers; None where the scenario has none of this name."""
        return self._statistics.get(metric)

    def replicates(self, metric: str) -> BootstrapReplicates | None:
        """The metric in every resample, computed once; None where these answers do not give it."""
        if metric not in self._replicates:
            self._replicates[metric] = self._resample(metric)
        return self._replicates[metric]

    def _resample(self, metric: str) -> BootstrapReplicates | None:
        found = self._statistics.get(metric)
        if found is None or (found.optional and not found.n):
            return None
        return BootstrapReplicates(
            metric=metric,
            samples=self._digest,
            value=self.value(metric),
            values=tuple(in_blocks(self.resamples.weights[: found.resamples], found.kernel).tolist()),
            errors=tuple(self.errors.tolist()),
            answers=tuple(prediction.answer for prediction in self.predictions),
            inputs=() if found.inputs is None else tuple(map(tuple, found.inputs.tolist())),
            seed=self.resamples.seed,
            numbers=self.scenario.kind.graded,
            bounds=found.bounds or (),
            units=tuple(self.resamples.units) if self.resamples.dependent else (),
            bare=found.bare,
        )

    def beside(self, old: Mapping[Key, Prediction]) -> PairedPredictions:
        """These answers and older ones to the same trials, of those that both have."""
        rows = [row for row, prediction in enumerate(self.predictions) if prediction.key in old]
        now = [self.predictions[row] for row in rows]
        before = [
            replace(old[each.key], gold=each.gold, units=each.units, fields=each.fields, groups=each.groups)
            for each in now
        ]
        resamples = self.resamples.of(rows)
        new, past = (
            ScoredPredictions(self.scenario, each, seed=resamples.seed, resamples=resamples) for each in (now, before)
        )
        return PairedPredictions(self if len(rows) == len(self) else new, past)

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """How far off each answer is: 0 or 1, or the size of the error; one that was not read is farthest off."""
        table = self.table
        if self.scenario.kind.graded:
            found = np.where(table.read, np.abs(table.answer_value - table.gold_value), _FARTHEST)
        else:
            found = 1.0 * (table.gold != table.answer)
        return np.asarray(found, dtype=np.float64)

    @cached_property
    def table(self) -> Table:
        """The predictions as columns."""
        return Table.of(self.scenario, self.predictions)

    @cached_property
    def _statistics(self) -> dict[str, Statistic]:
        return {statistic.name: statistic for statistic in catalogue(self.scenario, self.table)}

    @cached_property
    def _digest(self) -> str:
        names = json.dumps([(prediction.sample_id, prediction.units) for prediction in self.predictions])
        return sha256(names.encode()).hexdigest()


class PairedPredictions:
    """Two sets of answers to the same samples; a sample's gold and units are those of the new set."""

    def __init__(self, new: ScoredPredictions, old: ScoredPredictions) -> None:
        self._new, self._old = new, old

    def __len__(self) -> int:
        """The number of samples."""
        return len(self._new)

    def change(self, metric: str, *, quotient: bool = False, level: float = LEVEL) -> Change | None:
        """What became of a metric; None where either set of answers does not give it, as one without probabilities."""
        replicates = self.replicates(metric)
        return replicates and between(*replicates, quotient=quotient, level=level)

    def replicates(self, metric: str) -> tuple[BootstrapReplicates, BootstrapReplicates] | None:
        """The metric of the new and of the old set in every resample; None where either does not give it."""
        new, old = self._new.replicates(metric), self._old.replicates(metric)
        return None if new is None or old is None else (new, old)

    def decline(self) -> Decline:
        """The one-sided test that the new answers are worse."""
        numbers = self._new.scenario.kind.graded
        return decline(self._new.table, self._old.table, self._new.resamples, numbers=numbers)

    def flips(self) -> tuple[Flip, ...]:
        """The trials whose answers became worse or better, in the order of the new set."""
        turned = (self._new.errors - self._old.errors).tolist()
        several = any(each.trial for each in self._new.predictions)
        return tuple(
            Flip(
                sample_id=now.sample_id,
                trial=now.trial if several else None,
                gold=now.gold,
                old=before.answer,
                new=now.answer,
                better=turn < 0,
            )
            for now, before, turn in zip(self._new.predictions, self._old.predictions, turned, strict=True)
            if turn
        )
