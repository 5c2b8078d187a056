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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from pytest_puma.analysis.contrasts import common
from pytest_puma.core import LEVEL, Front, FrontPoint, Outcome, Standing
from pytest_puma.metrics import contrast

#: In place of a metric: the megabytes of the weights.
SIZE = "file size, MB"
#: A plain model, a scenario and a strategy.
_Key: TypeAlias = tuple[str, str, str]
#: With fewer points the table of variants shows all.
_POINTS = 3


def fronts(outcomes: Sequence[Outcome], sizes: Mapping[str, int] | None = None) -> tuple[Front, ...]:
    """Return the trade-offs of the variants of each plain model; `sizes`: the bytes of the weights of models.

    The primary metric of a cell is weighed against the size, against the other metrics that are compared in it, and
    against the primary metric of each later scenario under the same strategy, or under its first one.
    """
    sweeps: dict[_Key, dict[str, Outcome]] = {}
    for outcome in outcomes:
        name = outcome.name
        if name.perturbation is None:
            sweeps.setdefault((name.plain, name.scenario, name.strategy), {})[name.model] = outcome
    primary = {key: _Axis(cells, next(iter(cells.values())).primary) for key, cells in sweeps.items()}
    found = []
    for key, axis in primary.items():
        compared = dict.fromkeys(chain.from_iterable(cell.judgement.replicates for cell in sweeps[key].values()))
        size = _Size(sweeps[key], sizes or {})
        others: list[_Axis | _Size] = [size] if size.varies else []
        others += [_Axis(sweeps[key], metric) for metric in compared if metric != axis.metric]
        found += [_front(axis, other) for other in (*others, *(primary[later] for later in _later(sweeps, key)))]
    return tuple(front for front in found if len(front.points) >= _POINTS)


def undominated(gains: Sequence[Sequence[float]]) -> set[int]:
    """Return the indices of the pairs than which no other one is better in one and as good in the other.

    By the values alone: chance puts some of equal models there.
    """
    return {
        index
        for index, gain in enumerate(gains)
        if not any(other != gain and other[0] >= gain[0] and other[1] >= gain[1] for other in gains)
    }


def _later(sweeps: Iterable[_Key], key: _Key) -> Iterator[_Key]:
    """The cells of each later scenario of a model, of one strategy."""
    plain, scenario, strategy = key
    of_model = [found for found in sweeps if found[0] == plain]
    names = list(dict.fromkeys(name for _, name, _ in of_model))
    for name in names[names.index(scenario) + 1 :]:
        first = next(found for found in of_model if found[1] == name)
        yield (plain, name, strategy) if (plain, name, strategy) in of_model else first


def _front(axis: _Axis, other: _Axis | _Size) -> Front:
    models = [
        model for model in axis.cells if all(math.isfinite(each.gains.get(model, math.nan)) for each in (axis, other))
    ]
    points = (
        FrontPoint(
            cell=axis.cells[model].cell,
            other_cell=other.cells[model].cell,
            standing=_standing(model, [rest for rest in models if rest != model], (axis, other)),
        )
        for model in models
    )
    return Front(metric=axis.metric, other_metric=other.metric, points=tuple(points))


class _Axis:
    """A metric of cells, by their models. `gains`: its values with a sign that makes more the better."""

    def __init__(self, cells: Mapping[str, Outcome], metric: str) -> None:
        self.cells, self.metric = cells, metric
        measures = {model: cell.measures[metric] for model, cell in cells.items() if metric in cell.measures}
        self._signs = {model: _SIGNS[measure.better] for model, measure in measures.items()}
        self.gains = {model: self._signs[model] * measure.value for model, measure in measures.items()}
        known = [gain for gain in self.gains.values() if math.isfinite(gain)]
        self._range = max(known, default=0.0) - min(known, default=0.0) or 1.0
        self._tested = cache(self._p)

    def lead(self, model: str, other: str) -> float:
        """The observed lead of a model, as a share of the largest one."""
        return (self.gains[model] - self.gains[other]) / self._range

    def is_sure(self, better: str, worse: str, *, among: int = 1) -> bool:
        """Whether a model surely leads, if its p-value is multiplied by a number of tests."""
        both = common(self.cells[better], self.cells[worse], self.metric)
        lead = self.gains[better] - self.gains[worse]
        if both is None or not lead > 0:
            return False
        # A test takes milliseconds, and a large grid needs thousands: not for a lead that is far from enough.
        level = (1 - LEVEL) / among
        errors = NormalDist().inv_cdf(1 - level / 2) - 1
        if lead < errors * np.std(np.subtract(both[0].values, both[1].values)):
            return False
        return self._tested(better, worse) <= level

    #: Chance never makes two values equal.
    is_no_worse = is_sure

    def _p(self, better: str, worse: str) -> float:
        """The p-value of a lead; 1 if there is none on the samples that both answer."""
        new, old = (self.cells[model].judgement.replicates[self.metric] for model in (better, worse))
        paired = contrast("", "", new, old, seed=new.seed)
        return paired.p if paired.change.value * self._signs[better] > 0 else 1.0


class _Size:
    """The size of the weights of models, which is known without error."""

    metric = SIZE

    def __init__(self, cells: Mapping[str, Outcome], sizes: Mapping[str, int]) -> None:
        self.cells = cells
        self.gains = {model: -float(sizes[model]) for model in cells if model in sizes}
        self.varies = len({*self.gains.values()}) > 1

    def lead(self, model: str, other: str) -> float:
        """The sign of a lead, as a share that no metric exceeds."""
        return float(np.sign(self.gains[model] - self.gains[other]))

    def is_sure(self, better: str, worse: str, *, among: int = 1) -> bool:  # noqa: ARG002 - as of a metric
        """Whether a model is smaller."""
        return self.gains[better] > self.gains[worse]

    def is_no_worse(self, better: str, worse: str, *, among: int = 1) -> bool:  # noqa: ARG002 - as of a metric
        """Whether a model is not larger."""
        return self.gains[better] >= self.gains[worse]


_SIGNS = {"high": 1.0, "low": -1.0, "neither": math.nan}


def _standing(point: str, others: Sequence[str], axes: Sequence[_Axis | _Size]) -> Standing:
    """The standing of a point among others. Those that decide most likely come first, as tests take time."""
    near = sorted(others, key=lambda other: max(axis.lead(point, other) for axis in axes))
    if all(any(axis.is_sure(point, other) for axis in axes) for other in near):
        return "on the front"
    far = sorted(others, key=lambda other: min(axis.lead(other, point) for axis in axes), reverse=True)
    if any(all(axis.is_no_worse(other, point, among=len(others)) for axis in axes) for other in far):
        return "dominated"
    return "undecided"
