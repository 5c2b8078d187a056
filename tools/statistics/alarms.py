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
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change, judge_decline
from pytest_puma.metrics import ScoredPredictions, pair
from pytest_puma.metrics.calibration import tempered_losses
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats.resampling import Resamples
from pytest_puma.stats.significance import mcnemar_mid_p, sign_flips_above
from tools.statistics.equal_systems import POINTS, POPULATIONS, UNPARSED, PairedRuns, Population
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
    judge = judge_of(population, gate)
    count = draws if judge is fails else tests
    samples = (population.draw(np.random.default_rng([number, n]), n) for number in range(count))
    verdicts: dict[tuple[int, int], bool] = {}
    failed = 0
    for runs in samples:
        if judge is not None:
            failed += judge(population, gate, runs)
            continue
        if runs.changes not in verdicts:
            verdicts[runs.changes] = fails(population, gate, runs)
        failed += verdicts[runs.changes]
    return failed / count


_Judge: TypeAlias = Callable[[Population, Gate, PairedRuns], bool]


def judge_of(population: Population, gate: Gate) -> _Judge | None:
    """The judgement of a sample; None if the counts of changed answers decide alone, so that each is judged once."""
    runs = population.draw(np.random.default_rng(0), SIZES[0])
    if population.scenario != "triage_jira":
        return _fails_on_numbers if gate.word else fails
    if runs.units is not None:
        return _fails_on_units if gate.word else fails
    if runs.shares is not None and gate.word:
        return _fails_on_probabilities
    return fails if gate.metric == "brier" else None


@lru_cache
def _resamples(units: tuple[str, ...]) -> Resamples:
    """Resamples, which depend on the seed and the units alone."""
    return Resamples([(unit,) for unit in units], seed=0)


def fails(population: Population, gate: Gate, runs: PairedRuns) -> bool:
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


# -- `no_regression` by its tests alone, many times as fast as `fails` --------------------------------


def _fails_on_units(population: Population, gate: Gate, runs: PairedRuns) -> bool:  # noqa: ARG001
    """Return True if `no_regression` FAILs on labels of rows that share units."""
    changes = np.subtract(runs.new != runs.gold, runs.old != runs.gold, dtype=np.float64)
    units = np.arange(len(changes)) if runs.units is None else runs.units
    sums = np.asarray(np.bincount(units, weights=changes), dtype=np.float64)
    return sign_flips_above(sums, seed=0, mid=True) <= REGRESSION_LEVEL


def _fails_on_numbers(population: Population, gate: Gate, runs: PairedRuns) -> bool:  # noqa: ARG001
    """Return True if `no_regression` FAILs on numbers, some of which may be parse failures."""
    points = np.array(POINTS, dtype=np.float64)
    new, old = runs.new != UNPARSED, runs.old != UNPARSED
    errors = (np.abs(points[side] - points[runs.gold])[new & old] for side in (runs.new, runs.old))
    p = sign_flips_above(np.subtract(*errors), seed=0)
    failures = int((old & ~new).sum()), int((new & ~old).sum())
    return min(p, mcnemar_mid_p(*failures)) * 2 <= REGRESSION_LEVEL if any(failures) else p <= REGRESSION_LEVEL


def _fails_on_probabilities(population: Population, gate: Gate, runs: PairedRuns) -> bool:  # noqa: ARG001
    """Return True if `no_regression` FAILs on labels with probabilities, by the arithmetic of the power simulation."""
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
