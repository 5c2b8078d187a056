"""Kernels that can be rebuilt from the contributions of some rows, by name.

A comparison of two sets of answers uses the rows that contribute in both, and computes the metric again on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from pytest_puma.metrics import statistic
from pytest_puma.metrics.distinct import DistinctRows, distinct
from pytest_puma.metrics.statistic import CORRELATION, ComparisonBasis, IntervalBasis, Kernel, Statistic, divide, ratio
from pytest_puma.stats.arrays import Mask, Values, Weights

#: Maximum number of distinct pairs of gold value and answer for Kendall's tau, which counts them in every resample.
_MAX_PAIRS = 4096
#: A difference this small, relative to its terms, is a rounding error.
_ROUNDING = 1e-12


def agreement(
    gold: Values, answer: Values, parsed: Mask, note: str, pairs: DistinctRows | None = None
) -> Iterator[Statistic]:
    """Yield weighted kappa and rank correlations of answers and gold values on a scale, over the parsed answers.

    For ordered labels the numbers are their positions, for a regression its values. `pairs`: the positions of all rows,
    an answer below 0 for none, whose counts other kernels use, too.
    """
    inputs = np.where(parsed[:, None], np.column_stack([gold, answer]), np.nan)
    basis = IntervalBasis(rarer=statistic.rarer(gold[parsed] == answer[parsed]))
    among = statistic.contributing(inputs)
    kept = None if pairs is None else pairs.columns[1] >= 0
    pairs = DistinctRows(gold, answer, among=among) if pairs is None else pairs
    of_pairs = partial(Statistic, n=int(among.sum()), bounds=CORRELATION, inputs=inputs, interval=basis, note=note)
    for name, build in _AGREEMENT.items():
        if name != "kendall_tau" or len(np.unique(gold[parsed])) * len(np.unique(answer[parsed])) <= _MAX_PAIRS:
            yield of_pairs(name=name, kernel=pairs.kernel(build, kept), comparison=ComparisonBasis(rebuild=name))


def rebuilt(name: str, builder: str, inputs: Values, **more: Any) -> Statistic:
    """Return the statistic whose kernel is built from the inputs of the contributing rows, by the builder of this name.

    `more` are further fields of the `Statistic`.
    """
    rows = np.flatnonzero(statistic.contributing(inputs))
    kernel, comparison = BUILDERS[builder](*inputs[rows].T), ComparisonBasis(rebuild=builder)
    kernel = statistic.on_rows(rows, kernel)
    return Statistic(name=name, kernel=kernel, n=len(rows), inputs=inputs, comparison=comparison, **more)


def average(errors: Values) -> Kernel:
    """Return the kernel of the mean."""
    return ratio(errors, np.ones_like(errors))


def median(errors: Values) -> Kernel:
    """Return the kernel of the median; each error is repeated as often as its weight, a whole number."""
    if not errors.size:
        return average(errors)
    order = np.argsort(errors)
    ascending = errors[order]

    def kernel(weights: Weights) -> Values:
        ends = np.cumsum(weights[:, order], axis=1)
        total = ends[:, -1:]
        # The two middle positions, counted from 0; equal if the total is odd.
        middle = [ascending[np.argmax(ends > position, axis=1)] for position in ((total - 1) // 2, total // 2)]
        return np.where(total[:, 0] > 0, (middle[0] + middle[1]) / 2, np.nan)

    return kernel


def _standardised(errors: Values, gold: Values) -> Kernel:
    """1 minus the ratio of the mean absolute error to that of guessing the gold value of a random other row.

    Source: M. Shepperd, S. MacDonell, "Evaluating prediction systems in software project estimation", Information and
    Software Technology 54 (2012), with the exact mean over all pairs in place of a simulated one (W. Langdon et al.,
    "Exact mean absolute error of baseline predictor, MARP0", the same 73 (2016)).
    """
    order = np.argsort(gold)
    errors, gold = errors[order], gold[order]

    def kernel(weights: Weights) -> Values:
        weights = weights[:, order]
        n = weights.sum(axis=1)
        # Rows are sorted by gold value: each value is compared with the weights of all smaller ones.
        before, sums = np.cumsum(weights, axis=1) - weights, np.cumsum(weights * gold, axis=1) - weights * gold
        by_chance = divide(2 * np.sum(weights * (gold * before - sums), axis=1), n * (n - 1))
        return 1 - divide(divide(weights @ errors, n), by_chance)

    return kernel


def root_mean_square(errors: Values) -> Kernel:
    """Return the kernel of the root mean square.

    It is relative to the greatest error: the square of 200 digits, as a looping model writes, overflows.
    """
    greatest = np.max(errors, initial=1.0)
    squares = np.square(errors / greatest)

    def kernel(weights: Weights) -> Values:
        return np.sqrt(divide(weights @ squares, weights.sum(axis=1))) * greatest

    return kernel


def _kappa(gold: Values, answer: Values) -> Kernel:
    """Cohen's kappa with quadratic weights: 1 minus the mean squared distance over that of independent answers.

    Computed relative to the greatest number: the square of 200 digits, as a looping model writes, overflows.
    Source: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968).
    """
    greatest = np.max(np.abs([gold, answer]), initial=1.0)
    gold, answer = gold / greatest, answer / greatest
    columns = np.column_stack([np.ones_like(gold), gold, answer, gold**2, answer**2, (gold - answer) ** 2])

    def kernel(weights: Weights) -> Values:
        n, golds, answers, gold_squares, answer_squares, distances = (weights @ columns).T
        squares = n * (gold_squares + answer_squares)
        by_chance = squares - 2 * golds * answers
        # Rounding errors of equal numbers.
        by_chance[by_chance <= _ROUNDING * squares] = 0.0
        observed = n * distances
        observed = np.where(np.abs(observed - by_chance) <= _ROUNDING * squares, by_chance, observed)
        return 1 - divide(observed, by_chance)

    return kernel


def _spearman(gold: Values, answer: Values) -> Kernel:
    """Spearman's rank correlation, ties at their mean rank.

    Source: M. G. Kendall, "Rank correlation methods", 4th edition, 1970, chapter 3.
    """
    ranks_of_gold, ranks_of_answer = _ranking(gold), _ranking(answer)

    def kernel(weights: Weights) -> Values:
        n = weights.sum(axis=1, keepdims=True)
        x, y = (ranks(weights) - (n + 1) / 2 for ranks in (ranks_of_gold, ranks_of_answer))
        spread = np.sum(weights * x * x, axis=1) * np.sum(weights * y * y, axis=1)
        return divide(np.sum(weights * x * y, axis=1), np.sqrt(spread))

    return kernel


def _ranking(values: Values) -> Kernel:
    """The mean rank of each row's value, with each row repeated as often as its weight: resamples x rows."""
    _, indices = np.unique(values, return_inverse=True)
    order = np.argsort(indices, kind="stable")
    starts = np.flatnonzero(np.diff(indices[order], prepend=-1))

    def kernel(weights: Weights) -> Values:
        ties = np.add.reduceat(weights[:, order], starts, axis=1) if len(starts) else weights
        ranks: Values = np.cumsum(ties, axis=1) - ties / 2 + 0.5
        return ranks[:, indices]

    return kernel


def _kendall(gold: Values, answer: Values) -> Kernel:
    """Kendall's tau-b, from the counts of each pair of gold value and answer.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).
    """
    golds, gold_indices = np.unique(gold, return_inverse=True)
    answers, answer_indices = np.unique(answer, return_inverse=True)
    shape = len(golds), len(answers)
    pairs_of_rows = gold_indices * len(answers) + answer_indices
    cells = np.equal.outer(pairs_of_rows, np.arange(shape[0] * shape[1])).astype(np.float64)

    def kernel(weights: Weights) -> Values:
        table = (weights @ cells).reshape(-1, *shape)
        # With the answers in reverse order, discordant pairs are concordant.
        concordant, discordant = (
            np.sum(counts * _beyond(counts), axis=(1, 2)) for counts in (table, table[:, :, ::-1])
        )
        n = table.sum(axis=(1, 2))
        pairs = n * (n - 1)
        untied = [pairs - np.sum(sums * (sums - 1), axis=1) for sums in (table.sum(axis=2), table.sum(axis=1))]
        return divide(2 * (concordant - discordant), np.sqrt(untied[0] * untied[1]))

    return kernel


def _beyond(table: Values) -> Values:
    """For each cell, the sum of the cells with both a greater gold value and a greater answer."""
    sums = np.zeros((table.shape[0], table.shape[1] + 1, table.shape[2] + 1))
    sums[:, :-1, :-1] = table[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    return sums[:, 1:, 1:]


#: From gold values and answers.
_AGREEMENT: Mapping[str, Callable[..., Kernel]] = {
    "kappa_quadratic": _kappa,
    "spearman": _spearman,
    "kendall_tau": _kendall,
}
#: By `ComparisonBasis.rebuild`.
BUILDERS: Mapping[str, Callable[..., Kernel]] = {
    "mean": average,
    "median": partial(distinct, median),
    "root_mean_square": root_mean_square,
    "standardised": partial(distinct, _standardised),
    **{name: partial(distinct, build) for name, build in _AGREEMENT.items()},
}
