"""The predictions of a cell, ready to be measured: laid out and resampled once for all who ask."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from hashlib import sha256

import numpy as np

from pytest_puma.core import LEVEL, BootstrapReplicates, Measure, Metric, Prediction, Scenario
from pytest_puma.core.metric import Source
from pytest_puma.core.metric_name import MetricName, of_group
from pytest_puma.metrics import slices
from pytest_puma.metrics.catalogue import Catalogue
from pytest_puma.metrics.declared import Repeated
from pytest_puma.metrics.evidence import questions_of
from pytest_puma.metrics.measuring import bootstrap, measure
from pytest_puma.metrics.scoring import losses_of
from pytest_puma.metrics.statistic import Statistic, in_blocks
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Indices, Values
from pytest_puma.stats.resampling import Resamples

#: The minimum number of samples of a stratum. Resamples of fewer show too little of their spread: of one sample, none.
SMALLEST_STRATUM = 10
_FARTHEST = 1e300  # an error beyond all others, of which there is a difference


class ScoredPredictions:
    """Predictions of one scenario, with the scores of `metrics`. The same seed gives the same numbers."""

    def __init__(
        self,
        scenario: Scenario,
        predictions: Sequence[Prediction],
        *,
        seed: int,
        metrics: Sequence[Metric] = (),
        resamples: Resamples | None = None,
    ) -> None:
        self.scenario = scenario
        self.predictions = predictions
        self.metrics = tuple(metrics)
        self.resamples = _resamples(predictions, seed) if resamples is None else resamples
        self._replicates: dict[str, BootstrapReplicates | None] = {}
        self._sliced: dict[str, Statistic | None] = {}
        self._parts: dict[tuple[int, ...], ScoredPredictions] = {}
        #: By a column: the rows of each of its groups.
        self._groups = cache(partial(slices.groups_of, predictions))

    def __len__(self) -> int:
        """The number of predictions."""
        return len(self.predictions)

    def measures(
        self,
        *,
        level: float = LEVEL,
        left: float = 1.0,
        only: Collection[str] | None = None,
        sliced: Collection[str] = (),
        without: Collection[Source] = (),
    ) -> dict[str, Measure]:
        """Measures by metric, the primary one first. A metric without any row is left out if it is optional.

        `level` and `left` are those of the intervals (`measuring.measure`). `only`: the names of some metrics, None for
        all. `sliced`: names of slices to measure, too. `without`: the metrics of these sources are left out. If rows
        share units they are not independent: then all intervals resample units.
        """
        names = [*self._catalogue.names(only), *sliced]
        wanted = [statistic for statistic in self._all_present(names) if statistic.source not in without]
        extremes = {s.name: chosen for s in wanted if (chosen := self._extreme(s, level)) is not None}
        plain = [statistic for statistic in wanted if statistic.name not in extremes]
        measures = measure(plain, self.resamples, level=level, left=left, questions=self.questions)
        by_name = extremes | {measured.metric: measured for measured in measures}
        return {statistic.name: by_name[statistic.name] for statistic in wanted}

    def values(self, names: Collection[str]) -> dict[str, Measure]:
        """Measures without intervals, which take no resamples."""
        bare = [replace(statistic, interval=None) for statistic in self._all_present(names)]
        return {measured.metric: measured for measured in measure(bare, self.resamples, questions=self.questions)}

    def value(self, metric: str) -> float:
        """The metric without its interval; a `KeyError` if the scenario has none of this name."""
        statistic = self.statistic(metric)
        if statistic is None:
            raise KeyError(metric)
        return float(statistic.kernel(np.ones((1, len(self))))[0])

    def own(self) -> dict[str, Repeated]:
        """The scenario's own metrics of a whole cell by name, with the time that they took so far."""
        kernels = ((statistic.name, statistic.kernel) for statistic in self._catalogue.all())
        return {name: kernel for name, kernel in kernels if isinstance(kernel, Repeated)}

    def groups(self, key: str) -> tuple[str, ...]:
        """The values of a group column that the predictions have."""
        return tuple(self._groups(key))

    def statistic(self, metric: str) -> Statistic | None:
        """The metric over these predictions, or over a slice of them; None if the scenario has none of this name."""
        statistic = self._catalogue.get(metric)
        if statistic is not None:
            return statistic
        if metric not in self._sliced:
            self._sliced[metric] = self._slice(metric)
        return self._sliced[metric]

    def replicates(self, metric: str) -> BootstrapReplicates | None:
        """The metric in every resample, computed once; None if these predictions do not give it."""
        if metric not in self._replicates:
            self._replicates[metric] = self._resample(metric)
        return self._replicates[metric]

    def _resample(self, metric: str) -> BootstrapReplicates | None:
        statistic = self._present(metric)
        if statistic is None:
            return None
        comparison = statistic.comparison
        losses = self.errors if comparison.losses is None else comparison.losses
        values = in_blocks(self.resamples.weights[: statistic.resamples], statistic.kernel)
        return BootstrapReplicates(
            metric=metric,
            samples=self._digest,
            value=self.value(metric),
            values=tuple(values.tolist()),
            errors=tuple(losses.tolist()),
            answers=tuple(prediction.answer for prediction in self.predictions),
            inputs=() if statistic.inputs is None else tuple(map(tuple, statistic.inputs.tolist())),
            seed=self.resamples.seed,
            graded=comparison.test != "mcnemar" if comparison.scored else self.graded,
            bounds=statistic.bounds or (),
            units=tuple(self.resamples.units) if self.resamples.dependent else (),
            bare=statistic.interval is None,
            better=statistic.better,
            test=comparison.test,
            rebuild=comparison.rebuild,
            scored=comparison.scored,
            questions=self.questions,
            groups=comparison.groups,
        )

    def _extreme(self, statistic: Statistic, level: float) -> Measure | None:
        """The lowest or the highest of several groups, corrected for the choice; None for any other statistic."""
        name = MetricName.parse(statistic.name)
        if name.slice is None or name.slice.fold not in {"min", "max"}:
            return None
        names = [of_group(name.base, name.slice.key, group) for group in self.groups(name.slice.key)]
        groups = [group for group in self._all_present(names) if group.n]
        replicates = bootstrap(groups, self.resamples)
        measuring = partial(measure, resamples=self.resamples, level=level, questions=self.questions)
        (observed,) = measuring([replace(statistic, interval=None)])
        values = [replicates[group.name][0] for group in groups]
        measures = measuring(groups, replicates=replicates)
        return slices.extreme(observed, measures, values, bounds=statistic.bounds or ())

    def _present(self, metric: str) -> Statistic | None:
        """The statistic of a metric, None if it is optional and has no row."""
        statistic = self.statistic(metric)
        return None if statistic is None or (statistic.optional and not statistic.n) else statistic

    def _all_present(self, metrics: Iterable[str]) -> list[Statistic]:
        return [statistic for metric in metrics if (statistic := self._present(metric)) is not None]

    def _slice(self, metric: str) -> Statistic | None:
        name = MetricName.parse(metric)
        if name.slice is None:
            return None
        if name.slice.fold is None:
            columns = [self._groups(key) for key in name.slice.keys]
            return self._of_rows(metric, name.base, slices.rows_of(columns, name.slice))
        parts = (self._of_rows(metric, name.base, rows) for rows in self._groups(name.slice.key).values())
        filled = [part for part in parts if part is not None and part.n]
        nothing = self._of_rows(metric, name.base, np.array([], dtype=np.intp))
        return slices.combined(filled, metric, name.slice.fold) if filled else nothing

    def _of_rows(self, name: str, base: str, rows: Indices) -> Statistic | None:
        """The statistic of some rows; None if the cell does not have it, as without probabilities."""
        whole, part = self._present(base), self._part(tuple(rows.tolist()))
        statistic = part.statistic(base) if rows.size else None
        if whole is None or statistic is None:
            return whole and slices.without_rows(whole, name, len(self))
        losses = part.errors if statistic.comparison.losses is None else statistic.comparison.losses
        return slices.of_group(statistic, name, rows, losses, len(self))

    def _part(self, rows: tuple[int, ...]) -> ScoredPredictions:
        if rows not in self._parts:
            predictions = [self.predictions[row] for row in rows]
            self._parts[rows] = ScoredPredictions(
                self.scenario, predictions, seed=self.resamples.seed, metrics=self.metrics
            )
        return self._parts[rows]

    @cached_property
    def errors(self) -> Values:
        """Loss of each answer: 0 or 1, or the absolute error; a parse failure is the worst answer."""
        losses = losses_of(self.scenario, self.predictions, self.metrics)
        worst = _FARTHEST if self.graded else 1.0
        return np.array([worst if loss is None else loss for loss in losses], dtype=np.float64)

    @cached_property
    def graded(self) -> bool:
        """Whether an answer can be more or less wrong. Of texts, the scores of the primary metric decide."""
        kind = self.scenario.kind
        if not kind.scored:
            return kind.graded
        losses = losses_of(self.scenario, self.predictions, self.metrics)
        return any(loss not in {None, 0.0, 1.0} for loss in losses)

    @cached_property
    def questions(self) -> tuple[int, ...]:
        """The question of each row; empty if every sample has a single trial."""
        return questions_of(self.predictions)

    @cached_property
    def table(self) -> PredictionTable:
        """The predictions as columns."""
        return PredictionTable.of(self.scenario, self.predictions)

    @cached_property
    def _catalogue(self) -> Catalogue:
        return Catalogue(self.scenario, self.table, self.metrics)

    @cached_property
    def _digest(self) -> str:
        names = json.dumps([(*p.key[: 2 if p.trial else 1], p.units) for p in self.predictions])
        return sha256(names.encode()).hexdigest()


def _resamples(predictions: Sequence[Prediction], seed: int) -> Resamples:
    """Resamples of units, within the groups of the samples if all of these are large enough."""
    units = [prediction.units for prediction in predictions]
    if not any(prediction.groups for prediction in predictions):
        return Resamples(units, seed=seed)
    strata = [json.dumps(sorted(prediction.groups.items())) for prediction in predictions]
    sizes = Counter(dict(zip([prediction.sample_id for prediction in predictions], strata, strict=True)).values())
    stratified = len(sizes) > 1 and min(sizes.values()) >= SMALLEST_STRATUM
    return Resamples(units, seed=seed, strata=strata if stratified else ())
