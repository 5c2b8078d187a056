"""What became of a metric between two sets of answers to the same samples, with the paired interval of the change.

Both sets are resampled together, so that what is hard for both cancels out. Source of the paired bootstrap:
B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 8; for comparing systems on one test set:
P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import BootstrapReplicates, Change
from pytest_puma.metrics.kernels import BUILDERS
from pytest_puma.metrics.questions import count_questions, per_question
from pytest_puma.metrics.statistic import in_blocks, known
from pytest_puma.stats import (
    LEVEL,
    Resamples,
    change_interval,
    components,
    group_sums,
    least_p,
    mcnemar,
    sign_flips,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Kernel, Values

#: Added to both sides of a quotient: nothing beside any error, but 0 / 0 is 1.
_TINY = 1e-9
#: Fewer groups of rows have too few signs to flip: chains of shared units may link all rows to one group.
FEWEST_GROUPS = 10
#: Where fewer rows give anything to a metric, as those of a rare class do, the interval of its change is approximate.
FEW_ROWS = 20
#: So few changes of one size, as many as changes of errors are worth, do not show the tail.
FEW_EQUAL = 15
#: Baselines keep six digits of a probability.
_ROUNDING = 1e-5


def between(new: BootstrapReplicates, old: BootstrapReplicates, *, quotient: bool, level: float = LEVEL) -> Change:
    """What a metric is in one set of answers beside another one to the same samples.

    Where no sample gives the metric anything else than before, nothing changed, and the interval is the value alone.
    """
    unread, read_again = _reading(new, old)
    new, old = together(new, old)
    compare = _quotient if quotient else np.subtract
    same = 1.0 if quotient else 0.0
    values = compare(np.array(new.values), np.array(old.values))
    by_row = np.array(new.errors) - np.array(old.errors)
    differences = per_question(by_row, new.questions)
    worse, better = int((differences > 0).sum()), int((differences < 0).sum())
    n, behind = evidence(new, old)
    value = float(compare(np.array(new.value), np.array(old.value)))
    equal = math.ceil(min(behind, _equal(new, old)))
    if behind:
        low, high = change_interval(value, values, n=n, turned=equal, level=level)
        if new.bounds and not quotient:
            reach = new.bounds[1] - new.bounds[0]
            low, high = max(low, -reach), min(high, reach)
    else:
        # But for rounding.
        value = low = high = value if np.isnan(value) else same
    exact = _exact(by_row, new) if new.test == "mcnemar" else 0.0
    if max(exact, least_p(behind)) > 1 - level:
        # Where the exact test of accuracy finds no change, or no paired test of so few samples could, nor may this.
        low, high = min(low, same), max(high, same)
    return Change(
        metric=new.metric,
        old=old.value,
        new=new.value,
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=len(differences),
        worse=worse,
        better=better,
        changed=count_questions(_changed(new, old), new.questions),
        new_parse_failures=unread,
        fixed_parse_failures=read_again,
        quotient=quotient,
        graded=new.graded,
        scored=new.scored,
        share=bool(new.bounds),
        thin=behind > 0 and (new.bare or _equal(new, old) < FEW_EQUAL or _rows(new, old) < FEW_ROWS),
        level=level,
    )


def together(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[BootstrapReplicates, BootstrapReplicates]:
    """Both on the same rows: those that count for the metric in both sets.

    Of a metric over parsed answers these are the samples parsed in both; otherwise a model would gain by leaving its
    worst answers unparsed.
    """
    build = BUILDERS.get(new.rebuild)
    if build is None:
        rows = np.flatnonzero(~np.isnan(np.array(new.errors) + np.array(old.errors)))
        return (new, old) if len(rows) == len(new.errors) else (_picked(new, rows), _picked(old, rows))
    before, now = (known(_inputs(each)) for each in (old, new))
    both = np.flatnonzero(before & now)
    redrawn = not (before == now).all()
    units = new.units or ((),) * len(new.errors)
    resamples = Resamples(units, seed=new.seed).of(both.tolist()) if redrawn else None
    one, other = (_on_rows(each, both, build, resamples) for each in (new, old))
    return one, other


def _picked(replicates: BootstrapReplicates, rows: NDArray[np.intp]) -> BootstrapReplicates:
    """The columns of some of the rows; the values of the metric stay."""
    columns = ("errors", "answers", "inputs", "units", "questions")
    kept: dict[str, Any] = {
        name: tuple(column[row] for row in rows) for name in columns if (column := getattr(replicates, name))
    }
    return replace(replicates, **kept)


def _on_rows(
    replicates: BootstrapReplicates, rows: NDArray[np.intp], build: Callable[..., Kernel], resamples: Resamples | None
) -> BootstrapReplicates:
    """Some of the rows, with the metric computed anew on these, and on resamples of them."""
    picked = _picked(replicates, rows)
    if resamples is None:
        return picked
    value, values = np.nan, np.full(len(replicates.values), np.nan)
    if rows.size:
        kernel = build(*_inputs(picked).T)
        value, values = float(kernel(np.ones((1, rows.size)))[0]), in_blocks(resamples.weights, kernel)
    return replace(picked, value=value, values=tuple(values.tolist()))


def _reading(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[int, int]:
    """How many answers are no longer parsed, and how many are again, where the metric is over parsed answers."""
    if not new.rebuild:
        return 0, 0
    before, now = (known(_inputs(each)) for each in (old, new))
    return int((before & ~now).sum()), int((now & ~before).sum())


def evidence(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[int, int]:
    """How many independent observations there are, and how many of them give the metric something else in both sets.

    Rows that share units are one observation.
    """
    changed = _changed(new, old)
    if not new.units:
        return len(changed), int(changed.sum())
    groups, n = np.array(components(new.units)), Resamples(new.units, seed=0).independent
    if groups.max() + 1 < FEWEST_GROUPS:
        # Chains of shared units link rows that have little to do with each other.
        return n, math.ceil(changed.sum() * n / len(changed))
    return n, len(set(groups[changed].tolist()))


def _rows(new: BootstrapReplicates, old: BootstrapReplicates) -> int:
    """How many rows give the metric anything, in either set."""
    if not new.inputs:
        return len(new.answers)
    return int((known(_inputs(new)) | known(_inputs(old))).sum())


def _changed(new: BootstrapReplicates, old: BootstrapReplicates) -> NDArray[np.bool_]:
    """Which samples give the metric something else."""
    if new.inputs:
        now, before = _inputs(new), _inputs(old)
        return np.asarray(((now != before) & ~(np.isnan(now) & np.isnan(before))).any(axis=1))
    # What the author of a metric looks at is unknown: answers first, else whatever moves its value.
    answers = np.array([one != other for one, other in zip(new.answers, old.answers, strict=True)], dtype=np.bool_)
    moved = not np.allclose(new.values, old.values, rtol=_ROUNDING, atol=_TINY, equal_nan=True)
    return answers if answers.any() or not moved else np.ones(len(new.answers), dtype=np.bool_)


def _exact(turned: Values, new: BootstrapReplicates) -> float:
    """The p-value of the exact test of accuracy: McNemar's, or, where rows share units, that of the groups' signs."""
    if not new.units:
        return mcnemar(int((turned > 0).sum()), int((turned < 0).sum()))
    differences = group_sums(turned, new.units)
    return sign_flips(differences, seed=new.seed) if len(differences) >= FEWEST_GROUPS else 0.0


def _equal(new: BootstrapReplicates, old: BootstrapReplicates) -> float:
    """So many changes of one size have the spread that the changes of errors have: few large ones count as few.

    Source: L. Kish, "Survey sampling", 1965, on the effective number of unequally weighted observations.
    """
    errors = np.array([new.errors, old.errors])
    if not new.rebuild or not new.graded or (errors[0] == errors[1]).all():
        return math.inf
    errors = errors / np.abs(errors).max()  # a number of 200 digits has no square
    sizes = np.abs(np.subtract(*(np.square(errors) if new.rebuild == "root_mean_square" else errors)))
    squares = float(np.square(sizes).sum())
    return max(1.0, float(sizes.sum()) ** 2 / squares) if squares else 1.0


def _inputs(replicates: BootstrapReplicates) -> NDArray[np.float64]:
    return np.array(replicates.inputs, dtype=np.float64).reshape(len(replicates.inputs), -1)


def _quotient(new: Values, old: Values) -> Values:
    return (new + _TINY) / (old + _TINY)
