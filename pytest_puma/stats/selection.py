"""The value of the best, or the worst, of several systems, corrected for selection: a maximum of noise is too high."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pytest_puma.core import LEVEL
from pytest_puma.stats.arrays import Values
from pytest_puma.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class Selected:
    """The chosen system.

    Its `place`; its `observed` value; an estimate of its true `value` without the selection bias; and the factor by
    which an interval of that system alone must be `wider` to cover the true value of any chosen system. `limits`: the
    minimum and the maximum of the number.
    """

    place: int
    observed: float
    value: float
    wider: float
    limits: Interval = (-math.inf, math.inf)

    def interval(self, low: float, high: float) -> Interval:
        """Return the interval of that system alone, widened, within the limits, and with the estimate in it."""
        low, high = (self.observed + self.wider * (end - self.observed) for end in (low, high))
        return min(max(low, self.limits[0]), self.value), max(min(high, self.limits[1]), self.value)


def select(
    values: Sequence[float], resampled: Sequence[Sequence[float]], *, greatest: bool, bounds: Sequence[float] = ()
) -> Selected:
    """Choose the greatest or the smallest of numbers, given their values in the same bootstrap resamples.

    `bounds`: the minimum and the maximum of such a number; without them the minimum is 0 if no resample is negative.

    This averages over splits in which one half of the samples selects and the other half measures: the deviations of a
    resample are added for the selection, and subtracted for the measurement, which makes the two independent for normal
    numbers. The estimate lies between the observed value and the mean of all systems: the greatest true value is at
    least the mean of the true values, and with few samples the measuring halves are often beyond it.

    Source: D. G. Rasines, G. A. Young, "Splitting strategies for post-selection inference", Biometrika 110 (2023);
    J. Leiner et al., "Data fission: splitting a single data point", JASA 120 (2025). The wider interval is the
    simultaneous one of all systems, from the largest deviation of a resample: P. H. Westfall, S. S. Young,
    "Resampling-based multiple testing", 1993.
    """
    length = min(map(len, resampled))
    replicates = np.array([values_of_system[:length] for values_of_system in resampled])
    replicates = replicates[:, ~np.isnan(replicates).any(axis=0)]
    observed, sign = np.array(values), 1 if greatest else -1
    index = int(np.argmax(sign * observed))
    if len(observed) == 1 or not replicates.size:
        return Selected(index, float(observed[index]), float(observed[index]), 1.0)
    noise = replicates - replicates.mean(axis=1, keepdims=True)
    chosen = np.argmax(sign * (observed[:, None] + noise), axis=0)
    measured = np.take_along_axis(observed[:, None] - noise, chosen[None], axis=0)
    ends = sorted([float(observed.mean()), float(observed[index])])
    value = min(max(float(measured.mean()), ends[0]), ends[1])
    lowest = 0.0 if replicates.min() >= 0 else -math.inf
    limits = (bounds[0], bounds[1]) if bounds else (lowest, math.inf)
    return Selected(index, float(observed[index]), value, _wider(noise), limits)


def _wider(noise: Values) -> float:
    """Half the width of the simultaneous interval of all systems, divided by that of a single system."""
    spread = noise.std(axis=1, keepdims=True)
    farthest = np.abs(np.divide(noise, spread, out=np.zeros_like(noise), where=spread > 0)).max(axis=0)
    return max(1.0, float(np.quantile(farthest, LEVEL)) / NormalDist().inv_cdf((1 + LEVEL) / 2))
