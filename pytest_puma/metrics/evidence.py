"""The evidence for a change: the rows that contribute to a metric, those whose contribution changed, and their number.

Rows count less than their number if they share units, if few large errors make the change, or if the groups of a mean
over groups have different sizes.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_puma.core import BootstrapReplicates
from pytest_puma.metrics.group_weights import evenness, row_weights
from pytest_puma.metrics.statistic import contributing
from pytest_puma.stats.arrays import Mask, Values
from pytest_puma.stats.resampling import Resamples, components

#: A sign-flip test needs as many groups of rows: chains of shared units may link all rows to one group.
MIN_GROUPS = 10
#: Baselines store six digits of a probability.
_ROUNDING, _TINY = 1e-5, 1e-9
#: Equal changes of different numbers differ by rounding.
_DIGITS = 12


def inputs_of(replicates: BootstrapReplicates) -> Values:
    """Return the contributions of the rows: rows x columns."""
    return np.array(replicates.inputs, dtype=np.float64).reshape(len(replicates.inputs), -1)


def contributing_rows(new: BootstrapReplicates, old: BootstrapReplicates) -> Mask:
    """Return the mask of the rows that contribute in either set; all rows if contributions are unknown."""
    if not new.inputs:
        return np.ones(len(new.answers), dtype=np.bool_)
    return contributing(inputs_of(new)) | contributing(inputs_of(old))


def changed_rows(new: BootstrapReplicates, old: BootstrapReplicates) -> Mask:
    """Return the mask of the rows whose contribution changed."""
    if new.inputs:
        now, before = inputs_of(new), inputs_of(old)
        return np.asarray(((now != before) & ~(np.isnan(now) & np.isnan(before))).any(axis=1))
    # The inputs of an own metric are unknown: compare answers, and if these are equal, the values of the metric.
    answers = np.array([one != other for one, other in zip(new.answers, old.answers, strict=True)], dtype=np.bool_)
    moved = not np.allclose(new.values, old.values, rtol=_ROUNDING, atol=_TINY, equal_nan=True)
    return answers if answers.any() or not moved else np.ones(len(new.answers), dtype=np.bool_)


def independent_rows(new: BootstrapReplicates, old: BootstrapReplicates) -> float:
    """Return the number of independent observations among the rows that contribute in either set."""
    rows = contributing_rows(new, old)
    n = Resamples(new.units, seed=0).independent_among(rows) if new.units else int(rows.sum())
    return n * evenness(row_weights(new.groups, rows)) if new.groups else n


def independent_counts(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[float, float]:
    """Return the number of independent observations, and of those whose contribution changed.

    Rows that share units are one observation. In a mean over groups, rows of unequal weight count as fewer rows of
    equal weight.
    """
    changed = changed_rows(new, old)
    n, count = _independent(new, changed)
    if not count or not new.groups:
        return n, count
    weights = row_weights(new.groups, contributing_rows(new, old))
    whole = evenness(weights)
    # Changes in a large group show little of those that the small groups, where a row weighs more, might have had.
    return n * whole, count * min(whole, evenness(weights[changed]))


def _independent(new: BootstrapReplicates, changed: Mask) -> tuple[int, int]:
    if not new.units:
        return len(changed), int(changed.sum())
    groups, n = np.array(components(new.units)), Resamples(new.units, seed=0).independent
    if groups.max() + 1 < MIN_GROUPS:
        # Chains of shared units link rows that are almost independent.
        return n, math.ceil(changed.sum() * n / len(changed))
    return n, len(set(groups[changed].tolist()))


def effective_changes(new: BootstrapReplicates, old: BootstrapReplicates) -> float:
    """Return the number of equal changes with the same spread, so that a few large changes count as few.

    Source: L. Kish, "Survey sampling", 1965, on the effective number of unequally weighted observations.
    """
    errors = np.array([new.errors, old.errors])
    if not new.rebuild or not new.graded or (errors[0] == errors[1]).all():
        return math.inf
    errors = errors / np.abs(errors).max()  # a number of 200 digits has no square
    sizes = np.abs(np.subtract(*(np.square(errors) if new.rebuild == "root_mean_square" else errors)))
    squares = float(np.square(sizes).sum())
    return max(1.0, float(sizes.sum()) ** 2 / squares) if squares else 1.0


def deviating_rows(new: BootstrapReplicates, old: BootstrapReplicates) -> float:
    """Return the number of rows that changed by another amount than most rows did.

    Infinite if most rows did not change, or if contributions are unknown, or consist of several numbers.
    """
    if not new.inputs or len(new.inputs[0]) > 1:
        return math.inf
    now, before = inputs_of(new), inputs_of(old)
    steps = (now - before)[~np.isnan(now - before)]
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in (now, before)) or 1.0
    steps = np.round(steps / largest, _DIGITS)
    amounts, counts = np.unique(steps, return_counts=True)
    if not amounts.size or amounts[counts.argmax()] == 0:
        return math.inf
    return float(steps.size - counts.max())
