"""The weights of rows in a mean over groups of different sizes: a row of a small group weighs more.

Groups 0 0 0 1 give the weights 1/3 1/3 1/3 1, as much evidence as 3 rows of equal weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_puma.stats.arrays import Mask, Values


def row_weights(groups: Sequence[int], rows: Mask) -> Values:
    """Return the weight of each row, 0 for one that is not in the mask or in no group (-1)."""
    numbers = np.array(groups)
    rows = rows & (numbers >= 0)
    _, places, sizes = np.unique(numbers[rows], return_inverse=True, return_counts=True)
    weights = np.zeros(len(numbers))
    weights[rows] = 1 / sizes[places]
    return weights


def evenness(weights: Values) -> float:
    """Return the effective number of rows as a share of their number: 1 if all have the same weight.

    Source: L. Kish, "Survey sampling", 1965, on the effective number of unequally weighted observations.
    """
    weights = weights[weights > 0]
    if not weights.size or (weights == weights[0]).all():
        return 1.0
    return float(weights.sum() ** 2 / np.square(weights).sum() / weights.size)
