"""`python -m tools.statistics.alarms`: how often gates on a baseline FAIL although both systems are equally good.

Samples are drawn again and again from made-up populations in which the error rates of both systems are the same: with
answers that could not be parsed, rows that share units, label probabilities, and the noise of a run that is repeated.
A limit on a change may FAIL in 0.025 of them, `no_regression` in 0.05.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import REGRESSION_LEVEL, Gate, Policy, Prediction
from pytest_puma.gates import judge_change, judge_decline, parse_gate
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats import Resamples
from pytest_puma.stats.refit import tempered_losses
from tools.statistics.power import Pair, Side, evidence, stouffer

SIZES = (50, 100, 200)
UNPARSED = -1
_POINTS = ("1", "2", "3", "5", "8", "13", "21")
_SHARES = (0.22, 0.2, 0.22, 0.2, 0.11, 0.04, 0.01)
#: Of the rows of one unit, the share that is answered as the others are.
_ALIKE = 0.8

Values: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The places of the gold labels and of the answers of two runs; their label probabilities; the unit of each row."""

    gold: Places
    new: Places
    old: Places
    shares: tuple[Values, Values] | None = None
    units: Places | None = None

    def predictions(self, labels: Sequence[str]) -> tuple[list[Prediction], list[Prediction]]:
        """Those of the new and of the old run."""
        known = (None, None) if self.shares is None else self.shares
        new, old = (self._side(labels, *each) for each in zip((self.new, self.old), known, strict=True))
        return new, old

    def _side(self, labels: Sequence[str], places: Places, shares: Values | None) -> list[Prediction]:
        return [
            Prediction(
                sample_id=str(row),
                gold=labels[self.gold[row]],
                answer=None if place == UNPARSED else labels[place],
                probabilities=None if shares is None else dict(zip(labels, shares[row].tolist(), strict=True)),
                finish="stop" if shares is None else "scored",
                units=(str(row if self.units is None else self.units[row]),),
            )
            for row, place in enumerate(places.tolist())
        ]

    @property
    def turns(self) -> tuple[int, int]:
        """Answers that became wrong, and right."""
        was, now = self.old == self.gold, self.new == self.gold
        return int((was & ~now).sum()), int((now & ~was).sum())


_Draw: TypeAlias = Callable[[np.random.Generator, int], Drawn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Where two equally good systems come from, and the gates that are tried on them."""

    scenario: str
    draw: _Draw
    gates: tuple[str, ...]


# -- the populations ---------------------------------------------------------------------------------


def _labels(random: np.random.Generator, n: int, *, right: float, unparsed: float = 0.0) -> Drawn:
    """Four labels; six tenths of the luck are the sample's."""
    gold, hard = random.integers(0, 4, n), random.random(n)
    new, old = (
        np.where(
            random.random(n) < unparsed,
            UNPARSED,
            _answers(random, gold, np.where(random.random(n) < 0.6, hard, random.random(n)) < right),  # noqa: PLR2004
        )
        for _ in range(2)
    )
    return Drawn(gold=gold, new=new, old=old)


def _rerun(random: np.random.Generator, n: int, *, again: float) -> Drawn:
    """The same run once more, with a share of the answers drawn again."""
    gold = random.integers(0, 4, n)
    old, other = (_answers(random, gold, random.random(n) < 0.8) for _ in range(2))  # noqa: PLR2004
    return Drawn(gold=gold, new=np.where(random.random(n) < again, other, old), old=old)


def _orders(random: np.random.Generator, n: int) -> Drawn:
    """Each sample twice, as with both orders of a pair, most of them answered alike."""
    half = _labels(random, -(-n // 2), right=0.8)
    rows = np.arange(n) // 2
    gold = half.gold[rows]
    new, old = (
        np.where(random.random(n) < _ALIKE, side[rows], _answers(random, gold, random.random(n) < 0.8))  # noqa: PLR2004
        for side in (half.new, half.old)
    )
    return Drawn(gold=gold, new=new, old=old, units=rows)


def _answers(random: np.random.Generator, gold: Places, right: NDArray[np.bool_]) -> Places:
    return np.where(right, gold, (gold + random.integers(1, 4, len(gold))) % 4)


def _scored(random: np.random.Generator, n: int, *, apart: float, sharpness: float = 1.0) -> Drawn:
    """Scored labels: both systems see the truth through noise of one size, so much of it their own."""
    gold = random.integers(0, 4, n)
    seen = 2.2 * np.eye(4)[gold] + random.normal(0, 1, (n, 4))
    new, old = (times * (seen + random.normal(0, apart, (n, 4))) for times in (sharpness, 1.0))
    shares = tuple(np.exp(each) / np.exp(each).sum(axis=1, keepdims=True) for each in (new, old))
    return Drawn(gold=gold, new=new.argmax(axis=1), old=old.argmax(axis=1), shares=(shares[0], shares[1]))


def _points(
    random: np.random.Generator, n: int, *, unparsed: float = 0.0, again: float = 1.0, hardest: bool = False
) -> Drawn:
    """Story points, and answers some places off; `hardest`: only the old run did not parse the hardest tenth."""
    gold, shared = random.choice(len(_POINTS), n, p=_SHARES), random.normal(size=n)
    new, old = (
        np.clip(np.rint(gold + (shared + random.normal(size=n)) / math.sqrt(2)), 0, len(_POINTS) - 1).astype(np.intp)
        for _ in range(2)
    )
    new = np.where(random.random(n) < again, new, old)
    if hardest:
        old = np.where(np.abs(shared) >= np.quantile(np.abs(shared), 0.9), UNPARSED, old)
    new, old = (np.where(random.random(n) < unparsed, UNPARSED, each) for each in (new, old))
    return Drawn(gold=gold, new=new, old=old)


_TURNS = ("accuracy >= baseline", "no_regression")
_ALL = ("accuracy >= baseline", "brier <= baseline", "no_regression")
_ERRORS = ("mae <= baseline", "no_regression")
POPULATIONS: Mapping[str, Population] = {
    name: Population(scenario=scenario, draw=draw, gates=gates)
    for name, scenario, draw, gates in (
        ("right in .80", "triage_jira", partial(_labels, right=0.8), _TURNS),
        ("right in .50", "triage_jira", partial(_labels, right=0.5), _TURNS),
        ("right in .97", "triage_jira", partial(_labels, right=0.97), _TURNS),
        ("10 % parse failures in each run", "triage_jira", partial(_labels, right=0.8, unparsed=0.1), _TURNS),
        ("2 % of answers redrawn", "triage_jira", partial(_rerun, again=0.02), _TURNS),
        ("20 % of answers redrawn", "triage_jira", partial(_rerun, again=0.2), _TURNS),
        ("both orders of a pair", "triage_jira", _orders, _TURNS),
        ("label probabilities", "triage_jira", partial(_scored, apart=0.7), _ALL),
        ("half as sharp as before", "triage_jira", partial(_scored, apart=0.7, sharpness=0.5), _TURNS),
        ("logits moved by .003", "triage_jira", partial(_scored, apart=0.003), _ALL),
        ("story points", "estimation_tawos", _points, _ERRORS),
        ("2 % of points redrawn", "estimation_tawos", partial(_points, again=0.02), _ERRORS),
        ("10 % of points not parsed in each run", "estimation_tawos", partial(_points, unparsed=0.1), _ERRORS),
        ("the hardest tenth not parsed before", "estimation_tawos", partial(_points, hardest=True), _ERRORS),
    )
}


# -- the simulation ----------------------------------------------------------------------------------


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.alarms", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="of a gate that resamples (%(default)s)")
    parser.add_argument("--tests", type=int, default=10_000, help="of any other gate (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--population", action="append", choices=list(POPULATIONS))
    said = parser.parse_args()
    sizes = said.size or SIZES
    print(f"| population | gate | {' | '.join(f'n = {n}' for n in sizes)} |", "|---" * (2 + len(sizes)) + "|", sep="\n")
    for name, population in POPULATIONS.items():
        if said.population is None or name in said.population:
            for gate in population.gates:
                found = (share(population, parse_gate(gate), n, said.draws, said.tests) for n in sizes)
                print(f"| {name} | `{gate}` | {' | '.join(f'{each:.4f}' for each in found)} |", flush=True)


def share(population: Population, gate: Gate, n: int, draws: int, tests: int) -> float:
    """The share of samples in which the gate FAILs."""
    judge = _judge(population, gate)
    count = draws if judge is _fails else tests
    samples = (population.draw(np.random.default_rng([number, n]), n) for number in range(count))
    known: dict[tuple[int, int], bool] = {}
    failed = 0
    for drawn in samples:
        if judge is not None:
            failed += judge(population, gate, drawn)
            continue
        if drawn.turns not in known:
            known[drawn.turns] = _fails(population, gate, drawn)
        failed += known[drawn.turns]
    return failed / count


_Judge: TypeAlias = Callable[[Population, Gate, Drawn], bool]


def _judge(population: Population, gate: Gate) -> _Judge | None:
    """How a sample is judged; None where the counts of changed answers decide alone, so that each is judged once."""
    drawn = population.draw(np.random.default_rng(0), SIZES[0])
    if population.scenario != "triage_jira" or drawn.units is not None or gate.metric == "brier":
        return _fails
    return _joined if gate.word and drawn.shares is not None else None


@lru_cache
def _resamples(units: tuple[str, ...]) -> Resamples:
    """Those of a cell depend on its seed and its units alone."""
    return Resamples([(unit,) for unit in units], seed=0)


def _fails(population: Population, gate: Gate, drawn: Drawn) -> bool:
    """As a run judges it."""
    scenario = BUILTIN[population.scenario]()
    labels = _POINTS if scenario.task_type == "regression" else scenario.valid_labels()
    new, old = drawn.predictions(labels)
    resamples = _resamples(tuple(unit for each in new for unit in each.units))
    pairs = ScoredPredictions(scenario, new, seed=0, resamples=resamples).beside({each.sample_id: each for each in old})
    if gate.word:
        return judge_decline(gate, pairs.decline(), None, "", Policy()).status == "FAIL"
    change = pairs.change(gate.metric)
    return change is not None and judge_change(gate, change, "", Policy()).status == "FAIL"


def _joined(population: Population, gate: Gate, drawn: Drawn) -> bool:  # noqa: ARG001
    """`no_regression` with probabilities, by the faster arithmetic of the power simulation."""
    shares = np.bincount(drawn.gold, minlength=4) / len(drawn.gold)
    new, old = (
        Side(right=places == drawn.gold, losses=tempered_losses(known, drawn.gold))
        for places, known in zip((drawn.new, drawn.old), drawn.shares or (), strict=True)
    )
    pair = Pair(name="", kind="", old=old, new=new, prior=1 - float(shares @ shares))
    found = evidence(pair, np.ones((1, len(drawn.gold))))
    return bool(stouffer(found)[0] <= REGRESSION_LEVEL)


if __name__ == "__main__":
    main()
