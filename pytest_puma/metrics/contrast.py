"""Tests for a difference between two sets of answers to the same samples."""

from __future__ import annotations

import numpy as np

from pytest_puma.core import BootstrapReplicates, Contrast
from pytest_puma.metrics.evidence import MIN_GROUPS, independent_counts
from pytest_puma.metrics.paired import on_common_rows, paired_change
from pytest_puma.stats.resampling import group_sums
from pytest_puma.stats.significance import change_p, cliffs_delta, mcnemar, rank_biserial, sign_flips, signed_rank

#: Errors of parse failures are above this number, all other errors below.
_MAX_ERROR = 1e200


def contrast(cell: str, against: str, new: BootstrapReplicates, old: BootstrapReplicates, *, seed: int) -> Contrast:
    """Return the contrast between the answers of two cells; `adjusted` is its p-value as if it were the only one.

    If rows share units, tests use the sums of the differences of each group, as the errors in a group are correlated.
    """
    change = paired_change(new, old, quotient=False)
    new, old = on_common_rows(new, old)
    errors = np.array([new.errors, old.errors])
    parsed = np.flatnonzero((errors < _MAX_ERROR).all(axis=0))
    errors = errors[:, parsed]
    units = [new.units[row] for row in parsed.tolist()] if new.units else []
    differences = group_sums(errors[0] - errors[1], units)
    values, (n, changed) = np.array(new.values) - np.array(old.values), independent_counts(new, old)
    tests = {"bootstrap": change_p(change.value, values, n=n, changed=changed)}
    if change.graded or units:
        tests |= {"permutation": sign_flips(differences, seed=seed), "signed_rank": signed_rank(differences)}
    else:
        # McNemar's test needs independent answers that are right or wrong.
        tests["mcnemar"] = mcnemar(change.worse, change.better)
    test = new.test
    if units and test != "bootstrap":
        test = "permutation" if len(differences) >= MIN_GROUPS else "bootstrap"
    return Contrast(
        cell=cell,
        against=against,
        change=change,
        test=test,
        p=tests[test],
        adjusted=tests[test],
        tests=tests,
        # Old errors minus new ones: above 0 if the cell is better, for any metric.
        rank_biserial=rank_biserial(-differences),
        cliffs_delta=cliffs_delta(errors[1], errors[0]),
    )
