"""`python -m tools.statistics.stated`: whether gates on a change have the power that they state.

Two systems answer the same questions. A share of the answers is drawn again, so that both are equally good; in a fall,
some more become the worst, and at least 7 points move besides, as in falls of real changed runs (`power.py`). Equal
systems give the mean of the stated power of a loss that matters, and of the smallest loss that is stated to be caught
in 80 % of runs. Falls of just these sizes give the true shares of FAIL.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from tabulate import tabulate

from pytest_puma.core import BootstrapReplicates, Gate, Prediction
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import MIN_POWER
from pytest_puma.gates.power import Compared, Detection, detection_of
from pytest_puma.metrics.decline import decline_of_scores
from pytest_puma.metrics.paired import paired_change
from pytest_puma.stats.resampling import Resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Losses: TypeAlias = NDArray[np.float64]

SIZES = (20, 50, 100, 200)
GATES = tuple(map(parse_gate, ("no_regression", "score <= baseline")))
#: Equal systems whose statements are averaged, of each size.
STATED = 200
_LARGE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Population:
    """Answers of two systems to the same questions.

    `draw` gives the loss of each question, at most 1 if `bounded`. `again`: the share of the questions that are drawn
    again in the new run of an equal system, `besides`: in a fall. With several `trials`, the loss of a question is the
    chance of a wrong answer in each of them, and each run draws all of them.
    """

    draw: Callable[[np.random.Generator, int], Losses]
    again: float = 0.0
    besides: float = 0.0
    trials: int = 1
    bounded: bool = True

    def runs(self, random: np.random.Generator, n: int, fall: float = 0.0) -> tuple[Losses, Losses]:
        """Return the losses of the rows in the new and in the old run; the new ones are higher by `fall` on average."""
        old = self.draw(random, n)
        if self.trials > 1:
            new = old + (1 - old) * fall / (1 - self.mean)
            tried = [random.random((n, self.trials)) < chances[:, None] for chances in (new, old)]
            return tried[0].ravel().astype(np.float64), tried[1].ravel().astype(np.float64)
        again = max(self.again, self.besides) if fall else self.again
        new = np.where(random.random(n) < again, self.draw(random, n), old)
        lost = random.random(n) < fall / (1 - self.mean if self.bounded else self.mean)
        return np.where(lost, np.ones(n) if self.bounded else new + self.draw(random, n), new), old

    @cached_property
    def mean(self) -> float:
        """The mean loss."""
        return float(self.draw(np.random.default_rng(1), _LARGE).mean())

    @property
    def matters(self) -> float:
        """The loss that matters."""
        return 0.05 if self.bounded else 0.1 * self.mean


def _wrong(random: np.random.Generator, n: int) -> Losses:
    return np.where(random.random(n) < 0.3, 1.0, 0.0)  # noqa: PLR2004


def _even(random: np.random.Generator, n: int) -> Losses:
    return random.random(n)


def _mostly_exact(random: np.random.Generator, n: int) -> Losses:
    return np.where(random.random(n) < 0.6, 0.0, random.random(n))  # noqa: PLR2004


def _errors(random: np.random.Generator, n: int) -> Losses:
    return random.lognormal(0.0, 0.7, n)


def _chances(random: np.random.Generator, n: int) -> Losses:
    return random.beta(0.6, 1.4, n)


POPULATIONS: Mapping[str, Population] = {
    "right or wrong": Population(draw=_wrong, again=0.167),
    "right or wrong, few change": Population(draw=_wrong, again=0.03, besides=0.167),
    "right or wrong, many change": Population(draw=_wrong, again=0.45),
    "scores": Population(draw=_even, again=0.2),
    "scores, few change": Population(draw=_even, again=0.03, besides=0.2),
    "scores, mostly exact": Population(draw=_mostly_exact, again=0.24),
    "scores, mostly exact, few change": Population(draw=_mostly_exact, again=0.03, besides=0.24),
    "errors without bounds": Population(draw=_errors, again=0.2, bounded=False),
    "errors without bounds, few change": Population(draw=_errors, again=0.03, besides=0.2, bounded=False),
    "five trials": Population(draw=_chances, trials=5),
}


@lru_cache
def _rows(n: int, trials: int) -> tuple[tuple[Prediction, ...], Resamples]:
    """The predictions of trials, whose answers nobody reads, and their resamples."""
    names = [(str(row), trial) for row in range(n) for trial in range(trials)]
    rows = tuple(Prediction(sample_id=row, trial=trial, gold="", answer="", units=(row,)) for row, trial in names)
    return rows, Resamples([each.units for each in rows], seed=0)


def tested(population: Population, gate: Gate, new: Losses, old: Losses) -> tuple[bool, Detection]:
    """Return whether the gate FAILs, and what it states."""
    predictions, resamples = _rows(len(new) // population.trials, population.trials)
    width = 1.0 if population.bounded else 0.0
    if gate.word:
        decline = decline_of_scores(predictions, new, old, resamples, width=width)
        compared = Compared(metric="score", n=decline.n, old=float(old.mean()), spread=decline.spread, scored=True)
        return decline.is_regression, detection_of(gate, compared)
    change = paired_change(*(_replicates(population, each, resamples) for each in (new, old)), quotient=False)
    limited = Compared.of(change)
    if limited is None:
        raise ValueError(change)
    return change.low > 0, detection_of(gate, limited)


def _replicates(population: Population, losses: Losses, resamples: Resamples) -> BootstrapReplicates:
    binary, trials = bool(np.isin(losses, (0.0, 1.0)).all()), population.trials
    values = resamples.weights @ losses / resamples.weights.sum(axis=1)
    return BootstrapReplicates(
        metric="score",
        samples="",
        value=float(losses.mean()),
        values=tuple(values.tolist()),
        errors=tuple(losses.tolist()),
        answers=("",) * len(losses),
        inputs=tuple((loss,) for loss in losses.tolist()),
        seed=0,
        graded=not binary,
        bounds=(0.0, 1.0) if population.bounded else (),
        units=tuple(resamples.units) if trials > 1 else (),
        better="low",
        test="mcnemar" if binary else "permutation",
        rebuild="mean",
        scored=True,
        questions=tuple(row // trials for row in range(len(losses))) if trials > 1 else (),
    )


def statements(population: Population, gate: Gate, n: int, draws: int) -> tuple[float, float, float, float, float]:
    """Return the stated and the true power, the share below the minimum, and the smallest loss and its true power."""
    equal = [population.runs(np.random.default_rng([number, n, 0]), n) for number in range(min(draws, STATED))]
    stated = [detection for _, detection in (tested(population, gate, *each) for each in equal) if detection.known]
    powers = [each.caught(each.matters) for each in stated]
    found = [each.smallest() for each in stated]
    smallest = float(np.mean([np.nan if each is None else each for each in found]))
    most = 1 - population.mean if population.bounded else np.inf
    reached = _power(population, gate, n, draws, smallest) if smallest < most else np.nan
    true, few = _power(population, gate, n, draws, population.matters), np.mean(np.array(powers) < MIN_POWER)
    return float(np.mean(powers)), true, float(few), smallest, reached


def _power(population: Population, gate: Gate, n: int, draws: int, fall: float) -> float:
    falls = (population.runs(np.random.default_rng([number, n, 1]), n, fall) for number in range(draws))
    return float(np.mean([tested(population, gate, *each)[0] for each in falls]))


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.stated", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="falls of each kind (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help=f"questions; by default {SIZES}")
    parser.add_argument("--population", action="append", choices=POPULATIONS)
    options = parser.parse_args()
    rows = []
    for name, gate, size in product(options.population or POPULATIONS, GATES, options.size or SIZES):
        numbers = statements(POPULATIONS[name], gate, size, options.draws)
        rows.append([name, f"`{gate}`", size, *(f"{number:.3f}" for number in numbers)])
    headers = ["population", "gate", "*n*", "stated", "true", f"under {MIN_POWER}", "smallest", "true"]
    print(tabulate(rows, headers=headers, disable_numparse=True, tablefmt="github"))


if __name__ == "__main__":
    main()
