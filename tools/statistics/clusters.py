"""`python -m tools.statistics.clusters`: false alarms of tests and coverage of intervals when rows share units.

Two equally good systems: the share of samples in which the paired test of accuracy has p < 0.05, and in which
`accuracy >= baseline` FAILs. Coverage of the intervals of accuracy, of its change, of a perturbation's flip rate and of
the share that is always right. In brackets: McNemar's test and Wilson's interval, which treat rows as independent.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_puma.analysis.robustness import robustness
from pytest_puma.core import BootstrapReplicates, CellId, Execution, Judgement, Measure, Outcome, Policy, TaskInfo
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change
from pytest_puma.metrics import ScoredPredictions, contrast, paired_change
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats.intervals import wilson
from pytest_puma.stats.resampling import Resamples
from pytest_puma.stats.significance import mcnemar
from tools.statistics.rows import prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags: TypeAlias = NDArray[np.bool_]

SIZES = (50, 100, 200)
ALPHA = 0.05
#: Share of the rows of one unit with the answer of the other rows.
SHARED = 0.8
RIGHT, FLIPS = 0.7, 0.15
Units: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The units of a number of rows. Rows with the same first unit have correlated errors."""

    name: str
    units: Callable[[np.random.Generator, int], Units]


def _both_orders(_: np.random.Generator, n: int) -> Units:
    """Every pair in both orders."""
    return tuple((f"{row // 2}a", f"{row // 2}b") for row in range(n))


def _repeats(_: np.random.Generator, n: int) -> Units:
    """Questions with five repeats each."""
    return tuple((f"{row // 5}",) for row in range(n))


def _linked(random: np.random.Generator, n: int) -> Units:
    """Pairs of issues; half of the issues are in two pairs."""
    issues = [*range(n), *range(n // 2), *range(n, n + n // 2)]
    places = random.permutation(np.arange(2 * n))
    return tuple((str(issues[a]), str(issues[b])) for a, b in places.reshape(n, 2))


POPULATIONS = (
    Population("both orders", _both_orders),
    Population("five repeats", _repeats),
    Population("linked pairs", _linked),
)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.clusters", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="of each row (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--population", action="append", choices=[each.name for each in POPULATIONS])
    options = parser.parse_args()
    columns = ("p < 0.05", "gate FAILs", "accuracy", "change", "flip rate", "always right")
    print(f"| population | rows | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for population in POPULATIONS:
        for size in options.size or SIZES:
            if options.population is None or population.name in options.population:
                shares = _simulate(population, size, options.draws)
                cells = [f"{shares[name]:.3f}" + _bracketed(shares, name) for name in columns]
                print(f"| {population.name} | {size} | {' | '.join(cells)} |", flush=True)


def _bracketed(shares: dict[str, float], name: str) -> str:
    return f" ({shares[f'{name}, rows']:.3f})" if f"{name}, rows" in shares else ""


def _simulate(population: Population, size: int, draws: int) -> dict[str, float]:
    hits: Counter[str] = Counter()
    gate = parse_gate("accuracy >= baseline")
    for number in range(draws):
        random = np.random.default_rng([number, size])
        units = population.units(random, size)
        right, other, flips = (_correlated(random, units, rate) for rate in (RIGHT, RIGHT, FLIPS))
        now, before, perturbed = (_replicates(each, units) for each in (right, other, right ^ flips))
        change = paired_change(now, before, quotient=False)
        hits["p < 0.05"] += contrast("", "", now, before, seed=number).p < ALPHA
        hits["p < 0.05, rows"] += mcnemar(change.worse, change.better) < ALPHA
        hits["gate FAILs"] += judge_change(gate, change, "", Policy()).status == "FAIL"
        hits["change"] += change.low <= 0 <= change.high
        measure = _answers(right, units).measures(only=("accuracy",))["accuracy"]
        hits["accuracy"] += measure.low <= RIGHT <= measure.high
        (result,) = robustness([_outcome(now, measure, None), _outcome(perturbed, measure, "case_upper")])
        shares = ((result.shifts[0].answer_changes.rate, FLIPS), (result.always_right, RIGHT * (1 - FLIPS)))
        for name, (share, truth) in zip(("flip rate", "always right"), shares, strict=True):
            assert share is not None  # noqa: S101 - answers are labels
            low, high = wilson(round(share.value * size), size)
            hits[name] += share.low <= truth <= share.high
            hits[f"{name}, rows"] += low <= truth <= high
    return {name: count / draws for name, count in hits.items()}


def _correlated(random: np.random.Generator, units: Units, rate: float) -> Flags:
    """Flags with this rate; a row has the flag of its first unit or, with a probability of one in five, its own."""
    names = sorted({name for row in units for name in row})
    flags = dict(zip(names, random.random(len(names)) < rate, strict=True))
    shared = np.array([flags[row[0]] for row in units])
    return np.where(random.random(len(units)) < SHARED, shared, random.random(len(units)) < rate)


@lru_cache(maxsize=1)
def _resamples(units: Units) -> Resamples:
    """Resamples shared by all systems, and by all draws of a population with constant units."""
    return Resamples(units, seed=0)


def _answers(right: Flags, units: Units) -> ScoredPredictions:
    predictions = [
        prediction(row, "A", "A" if hit else "B", names)
        for row, (hit, names) in enumerate(zip(right.tolist(), units, strict=True))
    ]
    return ScoredPredictions(BUILTIN["prioritization_jira"](), predictions, seed=0, resamples=_resamples(units))


def _replicates(right: Flags, units: Units) -> BootstrapReplicates:
    replicates = _answers(right, units).replicates("accuracy")
    assert replicates is not None  # noqa: S101 - every answer has an accuracy
    return replicates


def _outcome(replicates: BootstrapReplicates, measure: Measure, perturbation: str | None) -> Outcome:
    return Outcome(
        name=CellId("prioritization_jira", "zero_shot", "model", perturbation),
        task=TaskInfo(type="classification"),
        predictions=(),
        metrics=(replicates.metric,),
        measures={measure.metric: measure},
        judgement=Judgement(replicates={replicates.metric: replicates}),
        execution=Execution(signature={}),
    )


if __name__ == "__main__":
    main()
