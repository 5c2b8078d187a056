"""`python -m tools.statistics.alarms`: false alarms of gates on a baseline when both systems are equally good.

Samples are drawn from simulated populations in which both systems have the same error rate (`equal_systems.py`). The
nominal rate of FAIL is 0.025 for a limit on a change, and 0.05 for `no_regression`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from pytest_puma.core import REGRESSION_LEVEL, Gate, Policy
from pytest_puma.gates import judge_change, judge_decline, parse_gate
from pytest_puma.metrics import ScoredPredictions, pair
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats import Resamples
from pytest_puma.stats.refit import tempered_losses
from tools.statistics.equal_systems import POINTS, POPULATIONS, PairedRuns, Population
from tools.statistics.evidence import Pair, Side, evidence, stouffer

SIZES = (50, 100, 200)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.alarms", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="of a gate that resamples (%(default)s)")
    parser.add_argument("--tests", type=int, default=10_000, help="of any other gate (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--population", action="append", choices=list(POPULATIONS))
    options = parser.parse_args()
    sizes = options.size or SIZES
    print(f"| population | gate | {' | '.join(f'n = {n}' for n in sizes)} |", "|---" * (2 + len(sizes)) + "|", sep="\n")
    for name, population in POPULATIONS.items():
        if options.population is None or name in options.population:
            for gate in population.gates:
                shares = (share(population, parse_gate(gate), n, options.draws, options.tests) for n in sizes)
                print(f"| {name} | `{gate}` | {' | '.join(f'{each:.4f}' for each in shares)} |", flush=True)


def share(population: Population, gate: Gate, n: int, draws: int, tests: int) -> float:
    """Return the share of samples in which the gate FAILs."""
    judge = _judge(population, gate)
    count = draws if judge is _fails else tests
    samples = (population.draw(np.random.default_rng([number, n]), n) for number in range(count))
    verdicts: dict[tuple[int, int], bool] = {}
    failed = 0
    for runs in samples:
        if judge is not None:
            failed += judge(population, gate, runs)
            continue
        if runs.changes not in verdicts:
            verdicts[runs.changes] = _fails(population, gate, runs)
        failed += verdicts[runs.changes]
    return failed / count


_Judge: TypeAlias = Callable[[Population, Gate, PairedRuns], bool]


def _judge(population: Population, gate: Gate) -> _Judge | None:
    """The judgement of a sample; None if the counts of changed answers decide alone, so that each is judged once."""
    runs = population.draw(np.random.default_rng(0), SIZES[0])
    if population.scenario != "triage_jira" or runs.units is not None or gate.metric == "brier":
        return _fails
    return _combined_fails if gate.word and runs.shares is not None else None


@lru_cache
def _resamples(units: tuple[str, ...]) -> Resamples:
    """Resamples, which depend on the seed and the units alone."""
    return Resamples([(unit,) for unit in units], seed=0)


def _fails(population: Population, gate: Gate, runs: PairedRuns) -> bool:
    """Return True if the gate FAILs, judged as in a run."""
    scenario = BUILTIN[population.scenario]()
    labels = POINTS if scenario.task_type == "regression" else scenario.valid_labels()
    new, old = runs.predictions(labels)
    resamples = _resamples(tuple(unit for each in new for unit in each.units))
    pairs = pair(ScoredPredictions(scenario, new, seed=0, resamples=resamples), {each.key: each for each in old})
    if gate.word:
        return judge_decline(gate, pairs.decline(), None, "", Policy()).status == "FAIL"
    change = pairs.change(gate.metric)
    return change is not None and judge_change(gate, change, "", Policy()).status == "FAIL"


def _combined_fails(population: Population, gate: Gate, runs: PairedRuns) -> bool:  # noqa: ARG001
    """Return True if `no_regression` with probabilities FAILs, by the faster arithmetic of the power simulation."""
    frequencies = np.bincount(runs.gold, minlength=4) / len(runs.gold)
    new, old = (
        Side(right=places == runs.gold, losses=tempered_losses(shares, runs.gold))
        for places, shares in zip((runs.new, runs.old), runs.shares or (), strict=True)
    )
    pair = Pair(name="", kind="", old=old, new=new, prior=1 - float(frequencies @ frequencies))
    tests = evidence(pair, np.ones((1, len(runs.gold))))
    return bool(stouffer(tests)[0] <= REGRESSION_LEVEL)


if __name__ == "__main__":
    main()
