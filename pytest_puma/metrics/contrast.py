"""Two sets of answers to the same samples, tested for a difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Change, Contrast, Draws
from pytest_puma.metrics.paired import between, together
from pytest_puma.stats import change_p, cliffs_delta, group_sums, mcnemar, rank_biserial, sign_flips, signed_rank, worth

if TYPE_CHECKING:
    from pytest_puma.metrics.statistic import Values

#: The paired test that is about a metric itself; of any other it is the bootstrap.
_TESTS = {"accuracy": "mcnemar", "mae": "permutation"}
#: Fewer groups of rows have too few signs to flip: chains of shared units may link all rows to one group.
FEWEST_GROUPS = 10
#: Errors of answers that were not read lie beyond; a mean error is one of the others.
_READ = 1e200


def contrast(cell: str, against: str, new: Draws, old: Draws, *, seed: int) -> Contrast:
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
    values = np.array(new.values) - np.array(old.values)
    tests = _tests(change, values, differences, a_row=worth(units), grouped=bool(units), seed=seed)
    test = _TESTS.get(new.metric, "bootstrap")
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


def _tests(
    change: Change, values: Values, differences: Values, *, a_row: float, grouped: bool, seed: int
) -> dict[str, float]:
    """The p-values of all tests that suit the answers: McNemar's is of right and wrong answers that are independent.

    `a_row` is what a row is `worth`.
    """
    n, turned = round(change.n * a_row), math.ceil(change.changed * a_row)
    tests = {"bootstrap": change_p(change.value, values, n=n, turned=turned)}
    if not change.numbers and not grouped:
        return tests | {"mcnemar": mcnemar(change.worse, change.better)}
    return tests | {"permutation": sign_flips(differences, seed=seed), "signed_rank": signed_rank(differences)}
