"""`python -m tools.statistics.selection`: correction for selection in a gate on the best of several strategies.

Strategies with known accuracies share half of their luck. Means over the draws: the greatest observed value, the
corrected one, and the true value of the chosen strategy. Shares of the draws: the observed value passes the gate, the
corrected one does, the verdict's interval covers the true value of the chosen strategy.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import numpy as np

from pytest_puma.analysis.cross_cell import verdicts
from pytest_puma.core import CellId, Execution, Gate, Judgement, Outcome, Policy, TaskInfo
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats.resampling import Resamples
from tools.statistics.rows import prediction

SIZES = (50, 200)
_ACCURACY = "max(accuracy over strategy) >= 0.6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The accuracies of strategies, and the gate on the best of them."""

    name: str
    rates: tuple[float, ...]
    gate: str


POPULATIONS = (
    Population(name="12 equal", rates=(0.55,) * 12, gate=_ACCURACY),
    Population(name="12 equal", rates=(0.55,) * 12, gate="max(f1_macro over strategy) >= 0.6"),
    Population(name="5 equal", rates=(0.55,) * 5, gate=_ACCURACY),
    Population(name="6, 0.02 apart", rates=(0.5, 0.52, 0.54, 0.56, 0.58, 0.6), gate=_ACCURACY),
    Population(name="1 of 5 is 0.15 better", rates=(0.55,) * 4 + (0.7,), gate=_ACCURACY),
)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.selection", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="of each row (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    columns = ("observed", "corrected", "truth", "kept, observed", "kept", "interval holds")
    print(f"| strategies | gate | samples | {' | '.join(columns)} |\n|---|---|---|{'---|' * len(columns)}")
    for population in POPULATIONS:
        for size in options.size or SIZES:
            means = _simulate(population, size, options.draws)
            cells = " | ".join(f"{means[name]:.3f}" for name in columns)
            print(f"| {population.name} | `{population.gate}` | {size} | {cells} |", flush=True)


def _simulate(population: Population, size: int, draws: int) -> dict[str, float]:
    gate = parse_gate(population.gate)
    sums: dict[str, float] = defaultdict(float)
    for number in range(draws):
        cells = cells_of(population, gate, np.random.default_rng([number, size]), size)
        (verdict,) = verdicts(cells, Policy())
        observed = [each[gate.metric] for each in cells]
        # With equally frequent labels and symmetric errors, F1 equals the accuracy.
        truth, measure = population.rates[int(np.argmax(observed))], verdict.measure
        assert measure is not None  # noqa: S101 - a gate on a number has one
        sums["observed"] += max(observed)
        sums["corrected"] += measure.value
        sums["truth"] += truth
        sums["kept, observed"] += max(observed) >= gate.limit
        sums["kept"] += verdict.status == "PASS"
        sums["interval holds"] += measure.low <= truth <= measure.high
    return {name: total / draws for name, total in sums.items()}


def cells_of(population: Population, gate: Gate, random: np.random.Generator, n: int) -> list[Outcome]:
    """The strategies on the same samples; a wrong answer is any other label."""
    scenario = BUILTIN["triage_jira"]()
    labels = np.array(scenario.valid_labels())
    gold, hard = random.integers(0, len(labels), n), random.random(n)
    cells = []
    for number, rate in enumerate(population.rates):
        luck = np.where(random.random(n) < 0.5, hard, random.random(n))  # noqa: PLR2004 - half
        wrong = (gold + random.integers(1, len(labels), n)) % len(labels)
        pairs = zip(labels[gold].tolist(), labels[np.where(luck < rate, gold, wrong)].tolist(), strict=True)
        predictions = [prediction(row, right, answer) for row, (right, answer) in enumerate(pairs)]
        answers = ScoredPredictions(scenario, predictions, seed=0, resamples=_resamples(n))
        cells.append(_cell(f"s{number}", gate, answers))
    return cells


@cache
def _resamples(rows: int) -> Resamples:
    """Resamples shared by all draws."""
    return Resamples([(str(row),) for row in range(rows)], seed=0)


def _cell(strategy: str, gate: Gate, answers: ScoredPredictions) -> Outcome:
    replicates = answers.replicates(gate.metric)
    assert replicates is not None  # noqa: S101 - every answer has the metrics of the gates
    return Outcome(
        name=CellId(answers.scenario.name, strategy, "model"),
        task=TaskInfo(type=answers.scenario.task_type),
        predictions=(),
        metrics=(gate.metric,),
        measures=answers.measures(only=(gate.metric,)),
        judgement=Judgement(cross_cell_gates=(gate,), replicates={gate.metric: replicates}),
        execution=Execution(signature={}),
    )


if __name__ == "__main__":
    main()
