"""`python -m tools.statistics.coverage`: how often a 95 % interval holds the truth, and what gates make of a change.

Samples are drawn again and again from made-up populations of which the truth is known. `change of` is the paired
difference of two systems; `false alarms` are gates on the baseline that fail although both systems are equally good,
`power` those that fail where one is worse by so much.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from tabulate import tabulate

from pytest_puma.core import Policy, Prediction, Scenario
from pytest_puma.gates import judge_change, parse_gate
from pytest_puma.metrics import Answers
from pytest_puma.scenarios import BUILTIN

SIZES = (50, 100, 200)
#: Rows that stand for a whole population.
_ALL = 200_000
_POINTS = np.array([1, 2, 3, 5, 8, 13, 21, 34])
_FEW_LARGE = (0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01, 0.0)
_LONG_TAIL = (0.24, 0.2, 0.26, 0.16, 0.09, 0.035, 0.01, 0.005)
_EVEN, _SKEWED = (0.25, 0.25, 0.25, 0.25), (0.08, 0.2, 0.6, 0.12)

#: The gold of each row, and what four systems answer: two to compare, and two of which the second is clearly worse.
_Rows: TypeAlias = tuple[np.ndarray, Sequence[np.ndarray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Where samples come from; `gate` is the metric that a gate on the baseline is about."""

    name: str
    scenario: str
    metrics: tuple[str, ...]
    gate: str
    draw: Callable[[np.random.Generator, int], _Rows]


def _classifier(name: str, shares: Sequence[float], *accuracies: float) -> Population:
    """Answers right at these rates, else a neighbour rather than a far class; half of the errors are shared."""

    def draw(random: np.random.Generator, n: int) -> _Rows:
        gold = random.choice(len(shares), n, p=shares)
        hard = random.random(n)
        answers = []
        for rate in accuracies:
            luck = np.where(random.random(n) < 0.5, hard, random.random(n))  # noqa: PLR2004 - half
            step = random.choice([-1, 1, 2], n, p=[0.45, 0.45, 0.1])
            # A step off the scale goes the other way.
            wrong = np.where((gold + step >= 0) & (gold + step < len(shares)), gold + step, gold - step)
            answers.append(np.where(luck < rate, gold, wrong))
        return gold, answers

    metrics = ("accuracy", "f1_macro", "kappa_quadratic")
    return Population(name=name, scenario="triage_jira", metrics=metrics, gate="f1_macro", draw=draw)


def _estimator(name: str, shares: Sequence[float], *spreads: float) -> Population:
    """Story points, and answers some places off on their scale; half of the error is that of the story."""

    def draw(random: np.random.Generator, n: int) -> _Rows:
        places = random.choice(len(_POINTS), n, p=shares)
        shared = random.normal(size=n)
        answers = [
            np.clip(np.rint(places + width * (shared + random.normal(size=n)) / math.sqrt(2)), 0, len(_POINTS) - 1)
            for width in spreads
        ]
        return _POINTS[places], [_POINTS[answer.astype(int)] for answer in answers]

    metrics = ("mae", "mdae", "spearman")
    return Population(name=name, scenario="estimation_tawos", metrics=metrics, gate="mae", draw=draw)


POPULATIONS = (
    _classifier("good", _EVEN, 0.8, 0.75, 0.8, 0.65),
    _classifier("weak", _EVEN, 0.4, 0.45, 0.45, 0.3),
    _classifier("imbalanced", _SKEWED, 0.7, 0.65, 0.7, 0.55),
    _classifier("near-perfect", _EVEN, 0.98, 0.97, 0.98, 0.83),
    _estimator("points", _FEW_LARGE, 1.2, 1.3, 1.0, 1.6),
    _estimator("points, long tail", _LONG_TAIL, 1.2, 1.3, 1.0, 1.6),
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
    """Each metric of each system over the whole population."""
    gold, answers = population.draw(np.random.default_rng(0), _ALL)
    scenario = BUILTIN[population.scenario]()
    metrics = {*population.metrics, population.gate}
    return {
        (metric, system): Answers(scenario, _predictions(scenario, gold, said), seed=0).value(metric)
        for (system, said), metric in product(enumerate(answers), metrics)
    }


def _simulate(
    population: Population, size: int, draws: int, truths: Mapping[tuple[str, int], float]
) -> dict[str, float]:
    """The share of draws whose interval holds the truth, by what the interval is of; and those whose gate fails."""
    scenario, gate = BUILTIN[population.scenario](), population.gate
    lost = abs(truths[gate, 2] - truths[gate, 3])
    hits: Counter[str] = Counter()
    for number in range(draws):
        random = np.random.default_rng([number, size])
        gold, answers = population.draw(random, size)
        one, other, better, worse = (
            Answers(scenario, _predictions(scenario, gold, said), seed=number) for said in answers
        )
        for found in one.measures(only=population.metrics).values():
            hits[found.metric] += found.low <= truths[found.metric, 0] <= found.high
        pairs = one.beside(_by_id(other))
        for metric in population.metrics:
            change = pairs.change(metric)
            truth = truths[metric, 0] - truths[metric, 1]
            hits[f"change of {metric}"] += change is not None and change.low <= truth <= change.high
        # Both are equally good where a coin says, for each row, who is who.
        coins = (random.random(size) < 0.5).tolist()  # noqa: PLR2004 - a coin
        both = zip(one.predictions, other.predictions, coins, strict=True)
        new, old = (
            Answers(scenario, each, seed=number)
            for each in zip(*((a, b) if coin else (b, a) for a, b, coin in both), strict=True)
        )
        hits[f"false alarms of {gate}"] += _fails(gate, new, old)
        hits[f"power of {gate}, {lost:.2f} worse"] += _fails(gate, worse, better)
    return {name: count / draws for name, count in hits.items()}


def _by_id(answers: Answers) -> dict[str, Prediction]:
    return {prediction.sample_id: prediction for prediction in answers.predictions}


def _fails(metric: str, new: Answers, old: Answers) -> bool:
    """Whether a gate fails that asks for no less than the old system has."""
    gate = parse_gate(f"{metric} {'<=' if new.scenario.task_type == 'regression' else '>='} baseline")
    change = new.beside(_by_id(old)).change(metric)
    return change is not None and judge_change(gate, change, "", Policy()).status == "FAIL"


def _predictions(scenario: Scenario, gold: np.ndarray, said: np.ndarray) -> list[Prediction]:
    labels = scenario.valid_labels()
    spelled = [str(int(point)) for point in range(_POINTS.max() + 1)] if scenario.task_type == "regression" else labels
    return [
        Prediction(sample_id=str(row), gold=spelled[right], answer=spelled[answer], units=(str(row),))
        for row, (right, answer) in enumerate(zip(gold.tolist(), said.tolist(), strict=True))
    ]


if __name__ == "__main__":
    main()
