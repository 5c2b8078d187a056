"""Types of arrays, and typical sizes: of values, and of the differences between them.

The sizes are also those of numbers of 200 digits, which have no square. The typical size is the mean square over the
mean: the size of equal values, some of them 0, with the same mean and the same mean square; a few large ones determine
it. Source: L. Kish, "Survey sampling", 1965, on the effective number of unequally weighted observations.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]
#: How often each row occurs in each resample: resamples x rows.
Counts: TypeAlias = NDArray[np.integer]
Weights: TypeAlias = Values

#: Relative rounding error of values.
_NOISE = 1e-9


def typical_size(values: Values) -> float:
    """Return the typical size of values; 0 if all are 0, or if there is none."""
    sizes = np.abs(values)
    largest = float(sizes.max(initial=0.0))
    if not largest:
        return 0.0
    relative = sizes / largest
    return largest * float(np.square(relative).sum() / relative.sum())


def deviation(values: Values) -> float:
    """Return the standard deviation of the values that are numbers, with n - 1; 0 of fewer than two."""
    defined = values[~np.isnan(values)]
    largest = float(np.abs(defined).max(initial=0.0))
    if len(defined) < 2 or not largest:  # noqa: PLR2004
        return 0.0
    return largest * float((defined / largest).std(ddof=1))


def typical_difference(values: Values) -> float:
    """Return the typical size of the differences between all pairs of values; 0 if all are the same."""
    ordered, n = np.sort(values), len(values)
    away = ordered - ordered[:1]
    largest = float(away.max(initial=0.0))
    if largest <= _NOISE * float(np.abs(ordered).max(initial=0.0)):
        return 0.0
    relative = away / largest
    # Sorted values are subtracted once for each one below them, and added once for each one above.
    return largest * n * n * float(relative.var()) / float((2 * np.arange(n) - n + 1) @ relative)
