"""The value of the best, or the worst, of several systems: the greatest of noisy numbers is too great."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.core import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Selected:
    """The chosen system.

    Its `place`; an estimate of its true `value` without the bias of the choice; and by what factor an interval of that
    system alone must be `wider` to hold the truth of whichever system is chosen.
    """

    place: int
    value: float
    wider: float


def select(values: Sequence[float], resampled: Sequence[Sequence[float]], *, greatest: bool) -> Selected:
    """Choose among numbers, each with its values in bootstrap resamples, which are the same for all of them.

    As if one half of the samples chose and the other half measured, in all ways at once: the deviations of a resample
    are added where the choice is made, and subtracted where the chosen number is read, which makes the two independent
    for normal numbers. Source: D. G. Rasines, G. A. Young, "Splitting strategies for post-selection inference",
    Biometrika 110 (2023); J. Leiner et al., "Data fission: splitting a single data point", JASA 120 (2025). The wider
    interval is the simultaneous one of all systems, from the greatest deviation of a resample: P. H. Westfall, S. S.
    Young, "Resampling-based multiple testing", 1993.
    """
    length = min(map(len, resampled))
    known = np.array([each[:length] for each in resampled])
    known = known[:, ~np.isnan(known).any(axis=0)]
    observed, sign = np.array(values), 1 if greatest else -1
    place = int(np.argmax(sign * observed))
    if len(observed) == 1 or not known.size:
        return Selected(place, float(observed[place]), 1.0)
    noise = known - known.mean(axis=1, keepdims=True)
    chosen = np.argmax(sign * (observed[:, None] + noise), axis=0)
    measured = np.take_along_axis(observed[:, None] - noise, chosen[None], axis=0)
    value = sign * min(sign * float(measured.mean()), sign * float(observed[place]))
    return Selected(place, value, _wider(noise))


def _wider(noise: Values) -> float:
    """The reach that holds all deviations of a resample at once, over the one that holds those of a single system."""
    spread = noise.std(axis=1, keepdims=True)
    farthest = np.abs(np.divide(noise, spread, out=np.zeros_like(noise), where=spread > 0)).max(axis=0)
    return max(1.0, float(np.quantile(farthest, LEVEL)) / NormalDist().inv_cdf((1 + LEVEL) / 2))
