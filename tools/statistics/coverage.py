"""`python -m tools.statistics.coverage`: coverage of 95 % intervals, and the share of them that is marked.

Samples are drawn from simulated populations with known true values (`populations.py`), and measured as a cell is;
`change` is the paired difference of two systems. Each number is a share of the draws: of intervals that cover the true
value, and, in parentheses, of those with a note that they are approximate. Proportions of independent rows need no
draws: their coverage is an exact binomial sum.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.stats import binom
from tabulate import tabulate

from pytest_puma.core import Change, Measure
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import ScoredPredictions, pair
from pytest_puma.metrics.measuring import measure
from pytest_puma.metrics.statistic import proportion
from pytest_puma.stats.resampling import Resamples, resampling_weights
from tools.statistics.draws import Rows
from tools.statistics.populations import POPULATIONS, Population

SIZES = (50, 200)
#: Rows that represent a whole population.
ALL = 100_000
#: Sets of resamples shared by all draws, and half as many resamples as in a run: both save most of the time.
_SETS, _RESAMPLES = 40, 1000
#: Proportions of all rows.
_PROPORTIONS = ("accuracy", "within_one", "parse_failure_rate")
_Measured = Iterator[tuple[str, float, Measure | Change]]


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="samples of each size (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--population", action="append", choices=[each.name for each in POPULATIONS])
    options = parser.parse_args()
    sizes = options.size or SIZES
    rows = []
    for population in POPULATIONS:
        if options.population is None or population.name in options.population:
            rows += simulated(population, sizes, options.draws)
    headers = ["population", "metric", *(f"{what}n = {n}" for what in ("", "change, ") for n in sizes)]
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))


def simulated(population: Population, sizes: Sequence[int], draws: int) -> list[list[str]]:
    """Return a row for each metric: the shares of its interval at each size, then those of its change's interval."""
    truths = truths_of(population)
    counts = [_counts(population, truths, size, draws) for size in sizes]
    rows = []
    for metric in population.metrics:
        shares = [each.get(name) for name in (metric, f"change of {metric}") for each in counts]
        rows.append([population.name, metric, *map(_cell, shares)])
    return rows


def truths_of(population: Population) -> dict[str, float]:
    """Return each metric of the first system over the whole population, and each change from the second one."""
    rows = population.draw(np.random.default_rng(0), ALL)
    sides = [_answers(population, rows, system) for system in range(2)]
    both = sides[0].table.parsed & sides[1].table.parsed
    parsed = [_picked(each, np.flatnonzero(both).tolist()) for each in sides]
    truths = {}
    for metric in population.metrics:
        statistic = sides[0].statistic(metric)
        one, other = parsed if statistic is not None and statistic.comparison.rebuild else sides
        truths[metric] = sides[0].value(metric)
        truths[f"change of {metric}"] = one.value(metric) - other.value(metric)
    return truths


def _picked(answers: ScoredPredictions, rows: Sequence[int]) -> ScoredPredictions:
    return ScoredPredictions(answers.scenario, [answers.predictions[row] for row in rows], seed=0)


def _counts(
    population: Population, truths: Mapping[str, float], size: int, draws: int
) -> dict[str, tuple[float, float]]:
    """The share of intervals that cover the true value, and of those that are marked, by the name of the number."""
    counts: dict[str, list[tuple[bool, bool]]] = {}
    exact: dict[str, tuple[float, float]] = {}
    for number in range(draws):
        rows = population.draw(np.random.default_rng([number, size]), size)
        for name, truth, measured in _measured(population, rows, truths, number):
            marked = measured.approximate if isinstance(measured, Change) else bool(measured.note)
            counts.setdefault(name, []).append((measured.low <= truth <= measured.high, marked))
        if rows.units is None and not exact:
            exact = {name: _exact(truths[name], size) for name in population.metrics if name in _PROPORTIONS}
    shares = {name: np.mean(each, axis=0).tolist() for name, each in counts.items()}
    return {name: exact.get(name, (covered, marked)) for name, (covered, marked) in shares.items()}


def _exact(truth: float, n: int) -> tuple[float, float]:
    """The coverage of the interval of a proportion, and the share of marked ones, over all counts of hits."""
    every, resamples = np.ones(n, dtype=np.bool_), Resamples([()] * n, seed=0)
    counts = [proportion("", np.arange(n) < hits, every, better="high") for hits in range(n + 1)]
    measures = measure([replace(each, name=str(hits)) for hits, each in enumerate(counts)], resamples)
    weights = binom.pmf(np.arange(n + 1), n, truth)
    covered = [each.low <= truth <= each.high for each in measures]
    return float(weights @ covered), float(weights @ [bool(each.note) for each in measures])


def _measured(population: Population, rows: Rows, truths: Mapping[str, float], number: int) -> _Measured:
    """The measures of the first system that have an interval, then its changes from the second one."""
    resamples = _resamples(population.name, rows.units, len(rows.golds), number % _SETS)
    one, other = (_answers(population, rows, system, resamples) for system in range(2))
    sliced = [name for name in population.metrics if MetricName.parse(name).slice is not None]
    for name, measured in one.measures(only=population.metrics, sliced=sliced).items():
        if not np.isnan(measured.low):
            yield name, truths[name], measured
    pairs = pair(one, {each.key: each for each in other.predictions})
    for name in population.metrics:
        change = pairs.change(name)
        # Without any change, there is no interval.
        if change is not None and change.changed and not np.isnan(change.low):
            yield f"change of {name}", truths[f"change of {name}"], change


def _answers(population: Population, rows: Rows, system: int, resamples: Resamples | None = None) -> ScoredPredictions:
    predictions = rows.predictions(population.scenario, system)
    return ScoredPredictions(population.scenario, predictions, seed=0, resamples=resamples)


@lru_cache(maxsize=_SETS)
def _resamples(_: str, units: tuple[str, ...] | None, n: int, seed: int) -> Resamples:
    resamples = Resamples([()] * n if units is None else [(unit,) for unit in units], seed=seed)
    resamples.weights = resampling_weights(resamples.units, resamples=_RESAMPLES, seed=seed).astype(np.float64)
    return resamples


def _cell(shares: tuple[float, float] | None) -> str:
    if shares is None:
        return "-"
    covered, marked = shares
    return f"{covered:.3f}" + (f" ({marked:.0%})" if marked >= 0.005 else "")  # noqa: PLR2004 - rounds to 0 %


if __name__ == "__main__":
    main()
