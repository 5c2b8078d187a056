"""The spread of the change between two sets of answers to the same samples, question by question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pytest_puma.core import BootstrapReplicates
from pytest_puma.core.change import Spread
from pytest_puma.metrics.evidence import independent_counts
from pytest_puma.metrics.questions import per_question
from pytest_puma.stats.arrays import Values
from pytest_puma.stats.resampling import Units, components, share_units
from pytest_puma.stats.sizes import deviation, typical_difference, typical_size

#: Fewer changed questions show neither the size of a change nor a correlation.
MIN_CHANGED = 5


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
        n=_independent(changes, units, error),
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
        losses = (np.array(each.errors) for each in (new, old))
        return spread_of_losses(*losses, questions=new.questions, units=new.units, error=error, width=width)
    n, changed = independent_counts(new, old)
    share, size = changed / n, width or abs(old.value)
    if changed >= MIN_CHANGED:
        size = math.hypot(math.sqrt(n) * error, change) / math.sqrt(share)
    return Spread(n=float(n), moved=share * size, size=size, unseen=size, width=width)


def _independent(changes: Values, units: Units, error: float) -> float:
    """The number of independent questions that give a mean change this error; all if only their trials share units."""
    n = len(changes)
    alone = not share_units(units) or len(set(components(units))) == n
    if alone or np.count_nonzero(changes) < MIN_CHANGED or not (own := deviation(changes)):
        return float(n)
    return n / max(1.0, (error / own) ** 2 * n)
