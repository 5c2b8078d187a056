"""`python -m tools.statistics.coverage`: how often a 95 % interval holds the truth, and how often a gate cries wolf.

Samples are drawn again and again from made-up populations of which the truth is known. `change of` is the paired
difference of two systems; `false alarms` are gates on the baseline that fail although both systems are equally good.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from tabulate import tabulate

from pytest_puma.core import Policy, Prediction, Scenario
from pytest_puma.gates import judge_change, parse_gate
from pytest_puma.metrics import Pairs
from pytest_puma.metrics.catalogue import catalogue
from pytest_puma.metrics.statistic import Statistic, measure
from pytest_puma.metrics.table import Table
from pytest_puma.scenarios import BUILTIN

SIZES = (50, 100, 200, 500)
#: Rows that stand for a whole population.
_ALL = 200_000
_POINTS = np.array([1, 2, 3, 5, 8, 13, 21])
_POINT_SHARES = np.array([0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01])


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Where samples come from: for each row a gold and two answers, of systems that agree in part."""

    name: str
    scenario: str
    metrics: tuple[str, ...]
    draw: Callable[[np.random.Generator, int], Sequence[np.ndarray]]


def _classifier(accuracy: float, shares: Sequence[float], *, other: float) -> Callable[..., Sequence[np.ndarray]]:
    """Answers that are right at this rate, else a neighbour rather than a far class; half of the errors are shared."""

    def draw(random: np.random.Generator, n: int) -> Sequence[np.ndarray]:
        gold = random.choice(len(shares), n, p=shares)
        hard = random.random(n)
        answers = []
        for rate in (accuracy, other):
            luck = np.where(random.random(n) < 0.5, hard, random.random(n))  # noqa: PLR2004 - half
            step = random.choice([-1, 1, 2], n, p=[0.45, 0.45, 0.1])
            # A step off the scale goes the other way.
            wrong = np.where((gold + step >= 0) & (gold + step < len(shares)), gold + step, gold - step)
            answers.append(np.where(luck < rate, gold, wrong))
        return gold, *answers

    return draw


def _estimator(spread: float, *, other: float) -> Callable[..., Sequence[np.ndarray]]:
    """Story points with a heavy tail, and answers off by a factor; half of the error is that of the story."""

    def draw(random: np.random.Generator, n: int) -> Sequence[np.ndarray]:
        places = random.choice(len(_POINTS), n, p=_POINT_SHARES)
        shared = random.normal(size=n)
        answers = [
            np.clip(np.rint(places + width * (shared + random.normal(size=n)) / math.sqrt(2)), 0, len(_POINTS) - 1)
            for width in (spread, other)
        ]
        return _POINTS[places], *(_POINTS[answer.astype(int)] for answer in answers)

    return draw


_EVEN, _SKEWED = (0.25, 0.25, 0.25, 0.25), (0.08, 0.2, 0.6, 0.12)
_LABELS = ("accuracy", "f1_macro", "kappa_quadratic")
POPULATIONS = (
    Population(name="good", scenario="triage_jira", metrics=_LABELS, draw=_classifier(0.8, _EVEN, other=0.75)),
    Population(name="weak", scenario="triage_jira", metrics=_LABELS, draw=_classifier(0.4, _EVEN, other=0.45)),
    Population(name="imbalanced", scenario="triage_jira", metrics=_LABELS, draw=_classifier(0.7, _SKEWED, other=0.65)),
    Population(name="near-perfect", scenario="triage_jira", metrics=_LABELS, draw=_classifier(0.98, _EVEN, other=0.97)),
    Population(
        name="points", scenario="estimation_tawos", metrics=("mae", "mdae", "spearman"), draw=_estimator(1.2, other=1.3)
    ),
)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="samples of each size (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be said again")
    parser.add_argument("--population", action="append", choices=[each.name for each in POPULATIONS])
    said = parser.parse_args()
    sizes = said.size or SIZES
    rows = []
    for population in POPULATIONS:
        if said.population is None or population.name in said.population:
            rows += _rows(population, sizes, said.draws)
    print(tabulate(rows, headers=["population", "what", *(f"n={size}" for size in sizes)], disable_numparse=True))


def _rows(population: Population, sizes: Sequence[int], draws: int) -> list[list[str]]:
    truths = _truths(population)
    found = {size: _simulate(population, size, draws, truths) for size in sizes}
    names = list(found[sizes[0]])
    return [[population.name, name, *(f"{found[size][name]:.3f}" for size in sizes)] for name in names]


def _truths(population: Population) -> dict[tuple[str, int], float]:
    """Each metric of both systems over the whole population."""
    gold, *answers = population.draw(np.random.default_rng(0), _ALL)
    scenario = BUILTIN[population.scenario]()
    return {
        (metric, system): float(_statistic(scenario, gold, said, metric).kernel(np.ones((1, _ALL)))[0])
        for (system, said), metric in product(enumerate(answers), population.metrics)
    }


def _simulate(
    population: Population, size: int, draws: int, truths: Mapping[tuple[str, int], float]
) -> dict[str, float]:
    """The share of draws whose interval holds the truth, by what the interval is of; and those of false alarms."""
    scenario = BUILTIN[population.scenario]()
    names = population.metrics
    hits = dict.fromkeys([*names, *(f"change of {name}" for name in names), "false alarms of " + names[1]], 0)
    for number in range(draws):
        random = np.random.default_rng([number, size])
        gold, *answers = population.draw(random, size)
        new, old = (_predictions(scenario, gold, said) for said in answers)
        table = Table.of(scenario, new)
        wanted = [each for each in catalogue(scenario, table) if each.name in names]
        for found in measure(wanted, [each.units for each in new], seed=number):
            hits[found.metric] += found.low <= truths[found.metric, 0] <= found.high
        pairs = Pairs(scenario, new, {each.sample_id: each for each in old}, seed=number)
        for name in names:
            change = pairs.change(name)
            truth = truths[name, 0] - truths[name, 1]
            hits[f"change of {name}"] += change is not None and change.low <= truth <= change.high
        hits["false alarms of " + names[1]] += _alarm(scenario, names[1], gold, answers, random, number)
    return {name: count / draws for name, count in hits.items()}


def _alarm(  # noqa: PLR0917
    scenario: Scenario,
    metric: str,
    gold: np.ndarray,
    answers: Sequence[np.ndarray],
    random: np.random.Generator,
    seed: int,
) -> bool:
    """Whether a gate on the baseline fails, although both are equally good: who answers what is tossed for each row."""
    swap = random.random(len(gold)) < 0.5  # noqa: PLR2004 - a coin
    sides = np.where(swap, answers[0], answers[1]), np.where(swap, answers[1], answers[0])
    new, old = (_predictions(scenario, gold, said) for said in sides)
    gate = parse_gate(f"{metric} {'<=' if scenario.task_type == 'regression' else '>='} baseline")
    change = Pairs(scenario, new, {each.sample_id: each for each in old}, seed=seed).change(metric)
    return change is not None and judge_change(gate, change, "", Policy()).status == "FAIL"


def _statistic(scenario: Scenario, gold: np.ndarray, said: np.ndarray, metric: str) -> Statistic:
    table = Table.of(scenario, _predictions(scenario, gold, said))
    return next(each for each in catalogue(scenario, table) if each.name == metric)


def _predictions(scenario: Scenario, gold: np.ndarray, said: np.ndarray) -> list[Prediction]:
    labels = scenario.valid_labels()
    spelled = [str(int(point)) for point in range(_POINTS.max() + 1)] if scenario.task_type == "regression" else labels
    return [
        Prediction(sample_id=str(row), gold=spelled[right], answer=spelled[answer], units=(str(row),))
        for row, (right, answer) in enumerate(zip(gold.tolist(), said.tolist(), strict=True))
    ]


if __name__ == "__main__":
    main()
