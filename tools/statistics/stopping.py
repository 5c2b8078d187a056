"""`python -m tools.statistics.stopping`: cost and savings of early stopping, by simulation.

For each metric, sample size and distance of the true value from the gate (above 0: the gate should PASS): the share of
FAIL, the share of verdicts that differ from the verdict of all samples, and the share of the samples that were used. A
gate on the baseline is about the paired difference of two systems; its verdict is FAIL only if the interval excludes
the limit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np

from pytest_puma.analysis import early_stopping
from pytest_puma.baseline.entry import Entry
from pytest_puma.core import LEVEL, Gate, Key, Measure, Model, Policy, Prediction, Scenario, Status
from pytest_puma.evaluation.cell import Cell
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge, judge_change
from pytest_puma.metrics import ScoredPredictions, pair
from pytest_puma.scenarios import BUILTIN, PrioritizationJiraScenario
from pytest_puma.stats.resampling import Resamples
from pytest_puma.strategies import parse_strategy
from tools.statistics.rows import prediction

SIZES = (50, 200, 500)
DISTANCES = (-0.15, -0.05, 0.0, 0.05, 0.15)
_ALL = 200_000
_POINTS = ("1", "2", "3", "5", "8", "13", "21")

#: Gold labels, answers now and, if a trial needs them, answers before: for a number of samples and a distance.
_Draw = Callable[[np.random.Generator, int, float], tuple[Sequence[str], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A gate, and a source of systems with true values at a distance from it."""

    gate: str
    scenario: Scenario
    draw: _Draw


class Classes(PrioritizationJiraScenario):
    """A classification with other labels; it needs no prompts."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = list(labels)

    def valid_labels(self) -> list[str]:
        """The labels of the constructor."""
        return self._labels


FOUR, TEN = Classes("ABCD"), Classes("ABCDEFGHIJ")
POINTS = BUILTIN["estimation_tawos"]()


def _labels(random: np.random.Generator, n: int, distance: float, *, scenario: Classes) -> tuple[Sequence[str], ...]:
    """Equally frequent labels; accuracy 0.6 plus the distance, 0.6 before, with half of the luck shared."""
    labels = np.array(scenario.valid_labels())
    gold = random.integers(0, len(labels), n)
    hard = random.random(n)
    sides = []
    for rate in (0.6 + distance, 0.6):
        luck = np.where(random.random(n) < 0.5, hard, random.random(n))  # noqa: PLR2004 - half
        wrong = (gold + random.integers(1, len(labels), n)) % len(labels)
        sides.append(labels[np.where(luck < rate, gold, wrong)].tolist())
    return labels[gold].tolist(), *sides


def _points(random: np.random.Generator, n: int, distance: float) -> tuple[Sequence[str], ...]:
    """Story points, and answers wrong by some places; at a distance of 1 the answers are exact."""
    points = np.array(_POINTS)
    gold = random.choice(len(points), n, p=[0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01])
    shift = random.normal(size=n)
    sides = [
        points[np.clip(np.rint(gold + width * shift), 0, len(points) - 1).astype(int)].tolist()
        for width in (1.0 - distance, 1.0)
    ]
    return points[gold].tolist(), *sides


def _exact(random: np.random.Generator, n: int, distance: float) -> tuple[Sequence[str], ...]:
    """Answers of which 95 % are exact and the others wrong by 1 to 5, 2.42 on average; fewer with the distance."""
    rate = 0.05 * (1 - distance)
    errors = np.where(random.random(n) < rate, random.choice([1, 2, 3, 5], n, p=[0.36, 0.26, 0.16, 0.22]), 0)
    return ["3"] * n, [str(3 + error) for error in errors.tolist()]


def _long_tail(random: np.random.Generator, n: int, distance: float) -> tuple[Sequence[str], ...]:
    """Lognormal errors, with a mean of exp(1/2) at a distance of 0."""
    errors = random.lognormal(size=n) * (1 - distance)
    return ["0"] * n, [repr(error) for error in errors.tolist()]


TRIALS = {
    "accuracy": Trial(gate="accuracy >= 0.6", scenario=FOUR, draw=partial(_labels, scenario=FOUR)),
    "f1_macro": Trial(gate="f1_macro >= 0.6", scenario=FOUR, draw=partial(_labels, scenario=FOUR)),
    "ten classes": Trial(gate="f1_macro >= 0.6", scenario=TEN, draw=partial(_labels, scenario=TEN)),
    "mae": Trial(gate="mae <= {}", scenario=POINTS, draw=_points),
    "95 % exact": Trial(gate="mae <= 0.08", scenario=POINTS, draw=_exact),
    "long tail": Trial(gate="mae <= {}", scenario=POINTS, draw=_long_tail),
    "baseline": Trial(gate="f1_macro >= baseline", scenario=FOUR, draw=partial(_labels, scenario=FOUR)),
}


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.stopping", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10_000, help="of each row (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--trial", action="append", choices=list(TRIALS))
    parser.add_argument("--distance", type=float, action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    print("| trial | samples | distance | FAIL | FAIL of all | other verdict | used |")
    print("|---|---|---|---|---|---|---|")
    for name, size, distance in product(options.trial or TRIALS, options.size or SIZES, options.distance or DISTANCES):
        shares = _simulate(TRIALS[name], size, distance, options.repetitions)
        print(f"| {name} | {size} | {distance:+.2f} | {' | '.join(shares)} |", flush=True)


def _simulate(trial: Trial, size: int, distance: float, repetitions: int) -> list[str]:
    scenario = trial.scenario
    gate = parse_gate(trial.gate.format(_limit(trial)))
    cell = Cell(
        scenario=scenario,
        strategy=parse_strategy("zero_shot"),
        model=Model(name="made-up", path=Path("made-up")),
        gates=(gate,),
    )
    failed = failed_of_all = changed = used = 0
    for number in range(repetitions):
        gold, now, *before = trial.draw(np.random.default_rng([number, size]), size, distance)
        predictions = _predictions(gold, now)
        old = {each.key: each for each in _predictions(gold, before[0])} if gate.other else {}
        baseline = Entry(cell=cell.id, commit="", test="", signature={}, measures={}, answers=old)
        n = size
        stopping = early_stopping.EarlyStopping(scenario=scenario, gates=(gate,), seed=cell.seed, baseline=baseline)
        for look in early_stopping.EarlyStopping.looks(size):
            if stopping.decided(predictions[:look], size):
                n = look
                break
        everything = _answers(scenario, predictions)
        first = everything if n == size else _answers(scenario, predictions[:n])
        early, whole = _status(gate, first, old, early_stopping.LEVEL), _status(gate, everything, old, LEVEL)
        failed += early == "FAIL"
        failed_of_all += whole == "FAIL"
        changed += early != whole
        used += n
    return [f"{count / repetitions:.3f}" for count in (failed, failed_of_all, changed, used / size)]


def _limit(trial: Trial) -> float:
    """The mean absolute error of the system at a distance of 0, for a gate without a limit."""
    if "{}" not in trial.gate:
        return 0.0
    gold, now, *_ = trial.draw(np.random.default_rng(0), _ALL, 0.0)
    return float(np.abs(np.array(now, dtype=float) - np.array(gold, dtype=float)).mean())


@cache
def _resamples(rows: int) -> Resamples:
    """Resamples of this number of rows, shared by all repetitions."""
    return Resamples([(str(row),) for row in range(rows)], seed=0)


def _answers(scenario: Scenario, predictions: Sequence[Prediction]) -> ScoredPredictions:
    return ScoredPredictions(scenario, predictions, seed=0, resamples=_resamples(len(predictions)))


def _status(gate: Gate, answers: ScoredPredictions, old: dict[Key, Prediction], level: float) -> Status:
    if gate.other is None:
        # Without an interval, the value alone decides.
        nan, n = math.nan, len(answers)
        measure = Measure(metric=gate.metric, value=answers.value(gate.metric), low=nan, high=nan, n=n)
        return judge(gate, {gate.metric: measure}).status
    change = pair(answers, old).change(gate.metric, level=level)
    return "NOT RUN" if change is None else judge_change(gate, change, "", Policy()).status


def _predictions(gold: Sequence[str], answers: Sequence[str]) -> list[Prediction]:
    return [prediction(row, *both) for row, both in enumerate(zip(gold, answers, strict=True))]


if __name__ == "__main__":
    main()
