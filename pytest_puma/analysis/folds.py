"""Folds of samples: a program that learns answers each fold by what it learned from the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from pytest_puma.core import Sample
from pytest_puma.stats.arrays import Values
from pytest_puma.stats.resampling import components

#: Training and test rows.
Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

FOLDS = 5


def folds_of(samples: Sequence[Sample], golds: NDArray[Any], seed: int, *, by_label: bool) -> list[Fold]:
    """Return training and test rows of each fold; none if there are too few, or a fold has one label alone.

    Samples that share a unit are in one fold.
    """
    if len(samples) < 2 * FOLDS:
        return []
    groups = components([sample.units for sample in samples])
    if len(set(groups)) < FOLDS:
        # Shared units connect all samples: then folds share some units.
        groups = list(range(len(samples)))
    rarest = min(np.unique(golds, return_counts=True)[1])
    split = LabelledFolds if by_label and rarest >= FOLDS else GroupKFold
    folds = list(split(FOLDS, shuffle=True, random_state=seed).split(golds, golds, groups))
    return folds if not by_label or all(len(np.unique(golds[training])) > 1 for training, _ in folds) else []


class LabelledFolds(StratifiedGroupKFold):  # type: ignore[misc] # scikit-learn has no types
    """The folds of scikit-learn, with the same frequencies of labels in each, in a fifth of the time."""

    def _find_best_fold(self, y_counts_per_fold: Values, y_cnt: Values, group_y_counts: Values) -> int:
        """The fold for a group: with the group there, the frequencies of labels differ least between folds.

        scikit-learn computes the standard deviations for one fold after the other; here they are one array.
        """
        with_group = y_counts_per_fold + np.eye(len(y_counts_per_fold))[:, :, None] * group_y_counts
        spreads = np.std(with_group / y_cnt, axis=1).mean(axis=1).tolist()
        sizes = y_counts_per_fold.sum(axis=1).tolist()
        best = 0
        for fold in range(1, len(sizes)):
            # The tolerances of `numpy.isclose`.
            equal = math.isclose(spreads[fold], spreads[best], rel_tol=0, abs_tol=1e-8 + 1e-5 * spreads[best])
            if spreads[fold] < spreads[best] or (equal and sizes[fold] < sizes[best]):
                best = fold
        return best
