"""The change of a metric between two sets of answers to the same samples, with its paired interval.

Both sets share their resamples, so the difficulty of samples cancels out. Source of the paired bootstrap:
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
from pytest_puma.metrics.statistic import contributing, in_blocks
from pytest_puma.stats import (
    LEVEL,
    Resamples,
    change_interval,
    components,
    group_sums,
    mcnemar,
    min_p_value,
    sign_flips,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_puma.metrics.statistic import Kernel, Values

#: Added to both sides of a quotient: negligible for any error, but 0 / 0 becomes 1.
_TINY = 1e-9
#: A sign-flip test needs as many groups of rows: chains of shared units may link all rows to one group.
MIN_GROUPS = 10
#: With fewer contributing rows, as in a rare class, the interval of a change is approximate.
MIN_ROWS = 20
#: With a smaller effective number of changes (see `_effective_changes`), the interval of a change is approximate.
MIN_CHANGES = 15
#: Relative rounding error of a metric: other answers may give the same number by other sums.
_NOISE = 1e-12
#: Baselines store six digits of a probability.
_ROUNDING = 1e-5


def paired_change(
    new: BootstrapReplicates, old: BootstrapReplicates, *, quotient: bool, level: float = LEVEL
) -> Change:
    """Return the change of a metric from the old to the new answers to the same samples.

    If no sample contributes anything else than before, nothing changed, and the interval is the value alone.
    """
    new_failures, fixed_failures = _parse_failure_changes(new, old)
    new, old = on_common_rows(new, old)
    compare, same = (_quotient, 1.0) if quotient else (np.subtract, 0.0)
    values = compare(np.array(new.values), np.array(old.values))
    by_row = np.array(new.errors) - np.array(old.errors)
    differences = per_question(by_row, new.questions)
    n, changed = independent_counts(new, old)
    value = float(compare(np.array(new.value), np.array(old.value)))
    if math.isfinite(value) and math.isclose(new.value, old.value, rel_tol=_NOISE):
        value = same
    effective = _effective_changes(new, old)
    if changed:
        low, high = change_interval(value, values, n=n, changed=math.ceil(min(changed, effective)), level=level)
        if new.bounds and not quotient:
            reach = new.bounds[1] - new.bounds[0]
            low, high = max(low, -reach), min(high, reach)
    else:
        # Except for rounding errors.
        value = low = high = value if np.isnan(value) else same
    if _p_value(by_row, new, changed) > 1 - level:
        # What no test finds, the interval may not show.
        low, high = min(low, same), max(high, same)
    return Change(
        metric=new.metric,
        old=old.value,
        new=new.value,
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=len(differences),
        worse=int((differences > 0).sum()),
        better=int((differences < 0).sum()),
        changed=count_questions(_changed(new, old), new.questions),
        new_parse_failures=new_failures,
        fixed_parse_failures=fixed_failures,
        quotient=quotient,
        graded=new.graded,
        scored=new.scored,
        test=new.test,
        share=bool(new.bounds),
        thin=changed > 0 and (new.bare or effective < MIN_CHANGES or _rows(new, old) < MIN_ROWS),
        level=level,
    )


def on_common_rows(
    new: BootstrapReplicates, old: BootstrapReplicates
) -> tuple[BootstrapReplicates, BootstrapReplicates]:
    """Return both on the same rows: those that contribute in both sets.

    For a metric over parsed answers these are the samples parsed in both; otherwise a model would gain by parse
    failures in place of its worst answers.
    """
    build = BUILDERS.get(new.rebuild)
    if build is None:
        rows = np.flatnonzero(~np.isnan(np.array(new.errors) + np.array(old.errors)))
        return (new, old) if len(rows) == len(new.errors) else (_picked(new, rows), _picked(old, rows))
    before, now = (contributing(_inputs(each)) for each in (old, new))
    both = np.flatnonzero(before & now)
    is_part = not (before == now).all()
    units = new.units or ((),) * len(new.errors)
    resamples = Resamples(units, seed=new.seed).of(both.tolist()) if is_part else None
    one, other = (_on_rows(each, both, build, resamples) for each in (new, old))
    return one, other


def _picked(replicates: BootstrapReplicates, rows: NDArray[np.intp]) -> BootstrapReplicates:
    """The columns of some of the rows, with the values of the metric unchanged."""
    columns = ("errors", "answers", "inputs", "units", "questions")
    kept: dict[str, Any] = {
        name: tuple(column[row] for row in rows) for name in columns if (column := getattr(replicates, name))
    }
    return replace(replicates, **kept)


def _on_rows(
    replicates: BootstrapReplicates, rows: NDArray[np.intp], build: Callable[..., Kernel], resamples: Resamples | None
) -> BootstrapReplicates:
    """Some of the rows, with the metric computed again on these, and on resamples of them."""
    picked = _picked(replicates, rows)
    if resamples is None:
        return picked
    value, values = np.nan, np.full(len(replicates.values), np.nan)
    if rows.size:
        kernel = build(*_inputs(picked).T)
        value, values = float(kernel(np.ones((1, rows.size)))[0]), in_blocks(resamples.weights, kernel)
    return replace(picked, value=value, values=tuple(values.tolist()))


def _parse_failure_changes(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[int, int] | tuple[None, None]:
    """The numbers of new and of fixed parse failures; None if the metric is not over parsed answers alone."""
    if not new.rebuild:
        return None, None
    before, now = (contributing(_inputs(each)) for each in (old, new))
    return int((before & ~now).sum()), int((now & ~before).sum())


def independent_counts(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[int, int]:
    """Return the number of independent observations, and of those whose contribution changed.

    Rows that share units are one observation.
    """
    changed = _changed(new, old)
    if not new.units:
        return len(changed), int(changed.sum())
    groups, n = np.array(components(new.units)), Resamples(new.units, seed=0).independent
    if groups.max() + 1 < MIN_GROUPS:
        # Chains of shared units link rows that are almost independent.
        return n, math.ceil(changed.sum() * n / len(changed))
    return n, len(set(groups[changed].tolist()))


def _rows(new: BootstrapReplicates, old: BootstrapReplicates) -> int:
    """The number of rows that contribute in either set."""
    if not new.inputs:
        return len(new.answers)
    return int((contributing(_inputs(new)) | contributing(_inputs(old))).sum())


def _changed(new: BootstrapReplicates, old: BootstrapReplicates) -> NDArray[np.bool_]:
    """The mask of the rows whose contribution changed."""
    if new.inputs:
        now, before = _inputs(new), _inputs(old)
        return np.asarray(((now != before) & ~(np.isnan(now) & np.isnan(before))).any(axis=1))
    # The inputs of an own metric are unknown: compare answers, and if these are equal, the values of the metric.
    answers = np.array([one != other for one, other in zip(new.answers, old.answers, strict=True)], dtype=np.bool_)
    moved = not np.allclose(new.values, old.values, rtol=_ROUNDING, atol=_TINY, equal_nan=True)
    return answers if answers.any() or not moved else np.ones(len(new.answers), dtype=np.bool_)


def _p_value(differences: Values, new: BootstrapReplicates, changed: int) -> float:
    """Lower bound of the p-value: that of the exact test of accuracy, and the lowest one of so few changed samples."""
    exact = _exact(differences, new) if new.test == "mcnemar" else 0.0
    return max(exact, min_p_value(changed))


def _exact(differences: Values, new: BootstrapReplicates) -> float:
    """The p-value of the exact test of accuracy: McNemar's, or the sign-flip test of groups if rows share units."""
    if not new.units:
        return mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))
    sums = group_sums(differences, new.units)
    return sign_flips(sums, seed=new.seed) if len(sums) >= MIN_GROUPS else 0.0


def _effective_changes(new: BootstrapReplicates, old: BootstrapReplicates) -> float:
    """The number of equal changes with the same spread, so that a few large changes count as few.

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
