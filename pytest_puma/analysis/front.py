"""Trade-offs between the variants of a model: which of them no other one beats on both of two metrics.

Of equal models, chance puts some on the observed front, that is: no other point has better values of both metrics. So
a point is *on the front* if it is surely better than each other point on one of the metrics, *dominated* if some point
is surely better on both, and else *undecided*. Surely: the metric's paired test, as in the table of contrasts, has a
two-sided p-value of at most .05.

- "On the front" is wrong if some point is truly as good on both metrics, or better. Chance would have to make this
  point look surely worse on one of them: at most 2.5 % for each metric, 5 % in all. Further points make it smaller.
- "Dominated" is wrong if no point is truly better on both metrics. Chance may make any of them look so; therefore the
  p-values are multiplied by their number (Bonferroni): at most 2.5 % in all.

These are the error rates of a point, not of a picture. `python -m tools.statistics.front` simulates them, beside those
of a simpler rule, the share of bootstrap resamples in which a point is not dominated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from pytest_puma.analysis.contrasts import common
from pytest_puma.core import LEVEL, Front, FrontPoint, Outcome, Standing
from pytest_puma.metrics import contrast

#: With fewer points the table of variants shows all.
_POINTS = 3


def fronts(outcomes: Sequence[Outcome]) -> tuple[Front, ...]:
    """Return the trade-offs of the variants of each plain model.

    The primary metric of a cell is weighed against the other metrics that are compared in it, and against the primary
    metric of each later scenario under the same strategy, or under its first one.
    """
    sweeps: dict[tuple[str, str, str], dict[str, Outcome]] = {}
    for outcome in outcomes:
        name = outcome.name
        if name.perturbation is None:
            sweeps.setdefault((name.plain, name.scenario, name.strategy), {})[name.model] = outcome
    found = []
    for key, cells in sweeps.items():
        first = next(iter(cells.values()))
        others = [(cells, metric) for metric in first.judgement.replicates if metric != first.primary]
        others += [(other, next(iter(other.values())).primary) for other in _later(sweeps, key)]
        found += [_front(cells, first.primary, other, metric) for other, metric in others]
    return tuple(front for front in found if len(front.points) >= _POINTS)


def _later(
    sweeps: Mapping[tuple[str, str, str], dict[str, Outcome]], key: tuple[str, str, str]
) -> Iterator[dict[str, Outcome]]:
    """The cells of each later scenario of a model, of one strategy."""
    plain, scenario, strategy = key
    names = list(dict.fromkeys(name for model, name, _ in sweeps if model == plain))
    for name in names[names.index(scenario) + 1 :]:
        of_name = {used: cells for (model, found, used), cells in sweeps.items() if (model, found) == (plain, name)}
        yield of_name.get(strategy) or next(iter(of_name.values()))


def _front(cells: Mapping[str, Outcome], metric: str, others: Mapping[str, Outcome], other_metric: str) -> Front:
    models = [model for model in cells if model in others]
    axes = [_Axis([cells[model] for model in models], metric), _Axis([others[model] for model in models], other_metric)]
    measured = [place for place in range(len(models)) if all(math.isfinite(axis.gains[place]) for axis in axes)]
    standings = {place: _standing(place, measured, axes) for place in measured}
    points = (
        FrontPoint(cell=cells[models[place]].cell, other_cell=others[models[place]].cell, standing=standing)
        for place, standing in standings.items()
    )
    return Front(metric=metric, other_metric=other_metric, points=tuple(points))


class _Axis:
    """A metric of some cells. `gains`: its values with a sign that makes more the better; NaN without a direction."""

    def __init__(self, cells: Sequence[Outcome], metric: str) -> None:
        found = [cell.measures.get(metric) for cell in cells]
        self._signs = [math.nan if measure is None else _SIGNS[measure.better] for measure in found]
        self.gains = [
            sign * measure.value if measure else math.nan for sign, measure in zip(self._signs, found, strict=True)
        ]
        self._cells, self._metric = cells, metric
        self.p = cache(self._p)

    def _p(self, better: int, worse: int) -> float:
        """The p-value of the lead of a cell; 1 if it has none, or if the cells cannot be compared."""
        both = common(self._cells[better], self._cells[worse], self._metric)
        if both is None or not self.gains[better] > self.gains[worse]:
            return 1.0
        error = np.std(np.subtract(both[0].values, both[1].values))
        if self.gains[better] - self.gains[worse] < error:  # no test is sure of it
            return 1.0
        paired = contrast("", "", *both, seed=both[0].seed)
        return paired.p if paired.change.value * self._signs[better] > 0 else 1.0


_SIGNS = {"high": 1.0, "low": -1.0, "neither": math.nan}


def _standing(point: int, points: Sequence[int], axes: Sequence[_Axis]) -> Standing:
    """The standing of one of the points."""
    others = [other for other in points if other != point]
    if all(any(axis.p(point, other) <= 1 - LEVEL for axis in axes) for other in others):
        return "on the front"
    if any(all(axis.p(other, point) * len(others) <= 1 - LEVEL for axis in axes) for other in others):
        return "dominated"
    return "undecided"
