"""The evidence for a change: the rows that contribute to a metric, those whose contribution changed, and their number.

Rows count less than their number if they are trials of one question, if they share units, if few large errors make the
change, or if the groups of a mean over groups have different sizes: a row of a small group weighs more. Groups 0 0 0 1
give the weights 1/3 1/3 1/3 1, as much evidence as 3 rows of equal weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_puma.core import BootstrapReplicates, Prediction
from pytest_puma.core.change import Spread
from pytest_puma.metrics.statistic import contributing
from pytest_puma.stats.arrays import Mask, Values, deviation, typical_difference, typical_size
from pytest_puma.stats.resampling import Resamples, Units, components, share_units

#: A sign-flip test needs as many groups of rows: chains of shared units may link all rows to one group.
MIN_GROUPS = 10
#: Baselines store six digits of a probability.
_ROUNDING, _TINY = 1e-5, 1e-9
#: Equal changes of different numbers differ by rounding.
_DIGITS = 12
#: Fewer changed questions show neither the size of a change nor a correlation.
MIN_CHANGED = 5


def questions_of(predictions: Sequence[Prediction]) -> tuple[int, ...]:
    """The question of each row, numbered from 0; empty if every sample has a single trial."""
    numbers: dict[str, int] = {}
    questions = tuple(numbers.setdefault(prediction.sample_id, len(numbers)) for prediction in predictions)
    return questions if len(numbers) < len(questions) else ()


def per_question(values: Values, questions: Sequence[int]) -> Values:
    """The mean of the rows of each question; the values themselves if every question has a single row."""
    if not questions:
        return values
    _, indices = np.unique(np.array(questions, dtype=np.intp), return_inverse=True)
    return np.asarray(np.bincount(indices, weights=values) / np.bincount(indices), dtype=np.float64)


def count_questions(rows: Mask, questions: Sequence[int]) -> int:
    """The number of questions of which the mask has a row."""
    return int(rows.sum()) if not questions else len(set(np.array(questions)[rows].tolist()))


def row_weights(groups: Sequence[int], rows: Mask) -> Values:
    """Return the weight of each row, 0 for one that is not in the mask or in no group (-1)."""
    numbers = np.array(groups)
    rows = rows & (numbers >= 0)
    _, indices, sizes = np.unique(numbers[rows], return_inverse=True, return_counts=True)
    weights = np.zeros(len(numbers))
    weights[rows] = 1 / sizes[indices]
    return weights


def evenness(weights: Values) -> float:
    """Return the effective number of rows as a share of their number: 1 if all have the same weight.

    Source: L. Kish, "Survey sampling", 1965, on the effective number of unequally weighted observations.
    """
    weights = weights[weights > 0]
    if not weights.size or (weights == weights[0]).all():
        return 1.0
    return float(weights.sum() ** 2 / np.square(weights).sum() / weights.size)


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
    answers = np.array([now != before for now, before in zip(new.answers, old.answers, strict=True)], dtype=np.bool_)
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
    largest = max(float(np.nanmax(np.abs(column), initial=0.0)) for column in (now, before)) or 1.0
    steps = np.round(steps / largest, _DIGITS)
    amounts, counts = np.unique(steps, return_counts=True)
    if not amounts.size or amounts[counts.argmax()] == 0:
        return math.inf
    return float(steps.size - counts.max())


def spread_of_losses(
    new: Values, old: Values, *, questions: Sequence[int], units: Units, error: float, width: float
) -> Spread:
    """Return the spread of a mean of losses, which are given by row.

    `error`: the standard error of the change, over resampled units; `width`: the greatest loss of a row, 0 if there is
    none.
    """
    changes, *sides = (per_question(column, questions) for column in (new - old, new, old))
    sizes = np.abs(changes)
    return Spread(
        n=_effective_questions(changes, units, error),
        moved=float(sizes.mean()),
        size=typical_size(sizes),
        unseen=typical_difference(np.concatenate(sides)) or width,
        width=width,
    )


def spread_of_change(new: BootstrapReplicates, old: BootstrapReplicates) -> Spread | None:
    """Return the spread of a metric on the same rows; None if it has no value.

    That of a metric that is no mean of losses follows from the standard error of its change: the size of a change is
    that of as many equal changes of a mean with this error.
    """
    change = new.value - old.value
    if not new.errors or math.isnan(change):
        return None
    error = deviation(np.array(new.values) - np.array(old.values))
    width = new.bounds[1] - new.bounds[0] if new.bounds else 0.0
    if new.test != "bootstrap":
        losses = (np.array(replicates.errors) for replicates in (new, old))
        return spread_of_losses(*losses, questions=new.questions, units=new.units, error=error, width=width)
    n, changed = independent_counts(new, old)
    share, size = changed / n, width or abs(old.value)
    if changed >= MIN_CHANGED:
        size = math.hypot(math.sqrt(n) * error, change) / math.sqrt(share)
    return Spread(n=float(n), moved=share * size, size=size, unseen=size, width=width)


def _effective_questions(changes: Values, units: Units, error: float) -> float:
    """The number of independent questions that give a mean change this error; all if only their trials share units."""
    n = len(changes)
    alone = not share_units(units) or len(set(components(units))) == n
    if alone or np.count_nonzero(changes) < MIN_CHANGED or not (single := deviation(changes)):
        return float(n)
    return n / max(1.0, (error / single) ** 2 * n)
