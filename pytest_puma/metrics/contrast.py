"""Two sets of answers to the same samples, tested for a difference."""

from __future__ import annotations

import numpy as np

from pytest_puma.core import BootstrapReplicates, Contrast
from pytest_puma.metrics.paired import FEWEST_GROUPS, between, evidence, together
from pytest_puma.stats import change_p, cliffs_delta, group_sums, mcnemar, rank_biserial, sign_flips, signed_rank

#: Errors of answers that were not read lie beyond; a mean error is one of the others.
_READ = 1e200


def contrast(cell: str, against: str, new: BootstrapReplicates, old: BootstrapReplicates, *, seed: int) -> Contrast:
    """The cell's answers beside those of another one; `adjusted` is as if there were no other contrast.

    Where rows share units, tests are on the sums of each group's differences, as rows of a group err together.
    """
    change = between(new, old, quotient=False)
    new, old = together(new, old)
    errors = np.array([new.errors, old.errors])
    read = np.flatnonzero((errors < _READ).all(axis=0))
    errors = errors[:, read]
    units = [new.units[row] for row in read.tolist()] if new.units else []
    differences = group_sums(errors[0] - errors[1], units)
    values, (n, behind) = np.array(new.values) - np.array(old.values), evidence(new, old)
    tests = {"bootstrap": change_p(change.value, values, n=n, turned=behind)}
    if change.graded or units:
        tests |= {"permutation": sign_flips(differences, seed=seed), "signed_rank": signed_rank(differences)}
    else:
        # Of right and wrong answers that are independent.
        tests["mcnemar"] = mcnemar(change.worse, change.better)
    test = new.test
    if units and test != "bootstrap":
        test = "permutation" if len(differences) >= FEWEST_GROUPS else "bootstrap"
    return Contrast(
        cell=cell,
        against=against,
        change=change,
        test=test,
        p=tests[test],
        adjusted=tests[test],
        tests=tests,
        # Of the old errors less the new ones: above 0 where the cell is better, whatever the metric.
        rank_biserial=rank_biserial(-differences),
        cliffs_delta=cliffs_delta(errors[1], errors[0]),
    )
