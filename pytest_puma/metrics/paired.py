"""The change of a metric between two sets of answers to the same samples, with its paired interval.

Both sets share their resamples, so the difficulty of samples cancels out. Source of the paired bootstrap:
B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 8; for comparing systems on one test set:
P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_puma.core import LEVEL, BootstrapReplicates, Change
from pytest_puma.core.change import FEW_CHANGED
from pytest_puma.metrics import evidence
from pytest_puma.metrics.kernels import BUILDERS
from pytest_puma.metrics.statistic import Kernel, contributing, in_blocks
from pytest_puma.stats.arrays import Indices, Values
from pytest_puma.stats.intervals import Interval, change_interval, effective_wilson
from pytest_puma.stats.resampling import Resamples, group_sums
from pytest_puma.stats.significance import mcnemar, min_p_value, sign_flips

#: Added to both sides of a quotient: negligible for any error, but 0 / 0 becomes 1.
_TINY = 1e-9
#: With fewer contributing rows, as in a rare class, the interval of a change is approximate.
MIN_ROWS = 20
#: With a smaller effective number of changes (`effective_changes`), the interval of a change is approximate.
MIN_CHANGES = 15
#: A change is near the maximum if fewer rows than this are away from it, and if it is more than half of it.
MIN_AWAY, _FAR = 8, 0.5
#: Relative rounding error of a metric: other answers may give the same number by other sums.
_NOISE = 1e-12


def paired_change(
    new: BootstrapReplicates, old: BootstrapReplicates, *, quotient: bool, level: float = LEVEL
) -> Change:
    """Return the change of a metric from the old to the new answers to the same samples.

    If no sample contributes anything else than before, nothing changed, and the interval is the value alone.
    """
    new_failures, fixed_failures = _parse_failure_changes(new, old)
    new, old = on_common_rows(new, old)
    by_row = np.array(new.errors) - np.array(old.errors)
    differences = evidence.per_question(by_row, new.questions)
    changed = evidence.changed_rows(new, old)
    value, low, high = _interval(new, old, quotient=quotient, level=level)
    return Change(
        metric=new.metric,
        old=old.value,
        new=new.value,
        value=value,
        low=low,
        high=high,
        n=len(differences),
        worse=int((differences > 0).sum()),
        better=int((differences < 0).sum()),
        changed=evidence.count_questions(changed, new.questions),
        new_parse_failures=new_failures,
        fixed_parse_failures=fixed_failures,
        quotient=quotient,
        graded=new.graded,
        scored=new.scored,
        test=new.test,
        share=bool(new.bounds),
        thin=bool(changed.any()) and _is_thin(new, old, value, quotient=quotient),
        several=bool(new.questions),
        level=level,
        spread=evidence.spread_of_change(new, old),
    )


def _interval(
    new: BootstrapReplicates, old: BootstrapReplicates, *, quotient: bool, level: float
) -> tuple[float, float, float]:
    """The change and its interval; NaN for the ends if there is no interval."""
    compare, same = (_quotient, 1.0) if quotient else (np.subtract, 0.0)
    value = float(compare(np.array(new.value), np.array(old.value)))
    if math.isfinite(value) and math.isclose(new.value, old.value, rel_tol=_NOISE):
        value = same
    values = compare(np.array(new.values), np.array(old.values))
    n, changed = evidence.independent_counts(new, old)
    if not changed:
        # Except for rounding errors.
        value = value if np.isnan(value) else same
        return value, value, value
    if not new.inputs and _is_constant(values, value, unit=max(abs(new.value), abs(old.value), abs(value))):
        # Nobody knows on how many rows the value of an own metric rests: that no resample differs shows nothing.
        return value, math.nan, math.nan
    reach = _reach(new, quotient=quotient)
    if _is_near_end(value, reach, new, old):
        low, high = _near_end(value, values, reach, evidence.independent_rows(new, old), level)
    else:
        effective = evidence.effective_changes(new, old)
        counted = changed if changed <= effective else math.ceil(effective)
        low, high = change_interval(value, values, n=n, changed=counted, level=level)
        low, high = max(low, -reach), min(high, reach)
    if _p_value(new, old, changed) > 1 - level:
        # What no test finds, the interval may not show.
        low, high = min(low, same), max(high, same)
    return value, min(low, value), max(high, value)


def _is_constant(values: Values, value: float, *, unit: float) -> bool:
    """Whether all resamples have this value, except for rounding errors of numbers of this size."""
    return bool(np.allclose(values[~np.isnan(values)], value, rtol=0.0, atol=_NOISE * unit))


def _reach(new: BootstrapReplicates, *, quotient: bool) -> float:
    """The maximum difference that the bounds of the metric allow."""
    return new.bounds[1] - new.bounds[0] if new.bounds and not quotient else math.inf


def _is_near_end(value: float, reach: float, new: BootstrapReplicates, old: BootstrapReplicates) -> bool:
    """Whether a change is so near to the maximum that resamples hardly vary."""
    size = abs(value) / reach
    return size > _FAR and evidence.independent_rows(new, old) * (1 - size) < MIN_AWAY


def _near_end(value: float, values: Values, reach: float, n: float, level: float) -> Interval:
    """The score interval of a change as a share of the maximum: of one side that is constant, that of the other."""
    sign = math.copysign(1.0, value)
    low, high = effective_wilson(abs(value), sign * values, n, bounds=(0.0, reach), level=level, rows=n)
    return (low, high) if sign > 0 else (-high, -low)


def _is_thin(new: BootstrapReplicates, old: BootstrapReplicates, value: float, *, quotient: bool) -> bool:
    """Whether the interval of a change rests on few rows, on few large changes, or on few that differ from the rest."""
    rows, (_, changed) = int(evidence.contributing_rows(new, old).sum()), evidence.independent_counts(new, old)
    if new.bare or rows < MIN_ROWS or changed < FEW_CHANGED or evidence.effective_changes(new, old) < MIN_CHANGES:
        return True
    near_end = _is_near_end(value, _reach(new, quotient=quotient), new, old)
    return not near_end and evidence.deviating_rows(new, old) < FEW_CHANGED


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
    before, now = (contributing(evidence.inputs_of(replicates)) for replicates in (old, new))
    both = np.flatnonzero(before & now)
    is_part = not (before == now).all()
    units = new.units or ((),) * len(new.errors)
    resamples = Resamples(units, seed=new.seed).of(both.tolist()) if is_part else None
    return _on_rows(new, both, build, resamples), _on_rows(old, both, build, resamples)


def _picked(replicates: BootstrapReplicates, rows: Indices) -> BootstrapReplicates:
    """The columns of some of the rows, with the values of the metric unchanged."""
    columns = ("errors", "answers", "inputs", "units", "questions")
    kept: dict[str, Any] = {
        name: tuple(column[row] for row in rows) for name in columns if (column := getattr(replicates, name))
    }
    return replace(replicates, **kept)


def _on_rows(
    replicates: BootstrapReplicates, rows: Indices, build: Callable[..., Kernel], resamples: Resamples | None
) -> BootstrapReplicates:
    """Some of the rows, with the metric computed again on these, and on resamples of them."""
    picked = _picked(replicates, rows)
    if resamples is None:
        return picked
    value, values = np.nan, np.full(len(replicates.values), np.nan)
    if rows.size:
        kernel = build(*evidence.inputs_of(picked).T)
        value, values = float(kernel(np.ones((1, rows.size)))[0]), in_blocks(resamples.weights, kernel)
    return replace(picked, value=value, values=tuple(values.tolist()))


def _parse_failure_changes(new: BootstrapReplicates, old: BootstrapReplicates) -> tuple[int, int] | tuple[None, None]:
    """The numbers of new and of fixed parse failures; None if the metric is not over parsed answers alone."""
    if not new.rebuild:
        return None, None
    before, now = (contributing(evidence.inputs_of(replicates)) for replicates in (old, new))
    return int((before & ~now).sum()), int((now & ~before).sum())


def _p_value(new: BootstrapReplicates, old: BootstrapReplicates, changed: float) -> float:
    """Lower bound of the p-value: that of the exact test of accuracy, and the lowest one of so few changed samples."""
    exact = _exact(np.array(new.errors) - np.array(old.errors), new) if new.test == "mcnemar" else 0.0
    return max(exact, min_p_value(changed))


def _exact(differences: Values, new: BootstrapReplicates) -> float:
    """The p-value of the exact test of accuracy: McNemar's, or the sign-flip test of groups if rows share units."""
    if not new.units:
        return mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))
    sums = group_sums(differences, new.units)
    return sign_flips(sums, seed=new.seed) if len(sums) >= evidence.MIN_GROUPS else 0.0


def _quotient(new: Values, old: Values) -> Values:
    return (new + _TINY) / (old + _TINY)
