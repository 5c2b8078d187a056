"""`python -m tools.statistics.power`: what the gate `no_regression` catches, on real changed runs.

The bundled model answers all rows of two scenarios as it is and under 72 changes (`changes.py`; ten minutes on one
core, once). These rows are the population: what a change costs is known of all of them. Samples of n rows are drawn
from them with replacement, again and again, and both runs are compared on each. Rules beside the gate's own are
McNemar's mid-p test and the test of the refitted Brier score alone, and Holm's procedure over both.

`swapped` draws from the rows and from the same rows with the two answers exchanged: there the two systems are equally
good by construction, so that FAIL is a false alarm. `--half` takes every other change only: what holds of one half was
not made to fit the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr
from scipy.stats import binom
from tabulate import tabulate

from pytest_puma.core import REGRESSION_LEVEL, Prediction
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics.decline import CORRELATION, LEAST_SKILL, TOLERANCE
from pytest_puma.scenarios import BUILTIN
from pytest_puma.stats.refit import BETAS, tempered_losses
from tools.statistics.changes import BASE, ROWS, answers, changes

SIZES = (50, 100, 200)
#: Points of accuracy: so little is no harm.
HARMLESS = 1.0

Values: TypeAlias = NDArray[np.float64]
Rule: TypeAlias = Callable[["Evidence"], Values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one run answered to all rows: whether that is right, and its Brier score under each exponent."""

    right: NDArray[np.bool_]
    losses: Values  # exponents x rows

    @classmethod
    def of(cls, scenario: str, predictions: Sequence[Prediction]) -> Side:
        """From the predictions of a run."""
        table = ScoredPredictions(BUILTIN[scenario](), predictions, seed=0).table
        return cls(right=table.answer == table.gold, losses=tempered_losses(table.probabilities, table.gold))

    def and_then(self, other: Side) -> Side:
        """The rows of both."""
        right, losses = (self.right, other.right), (self.losses, other.losses)
        return Side(right=np.concatenate(right), losses=np.concatenate(losses, axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A changed run beside the one as it is; `prior` is the Brier score of the shares of the labels."""

    name: str
    kind: str
    old: Side
    new: Side
    prior: float

    @property
    def fall(self) -> float:
        """By how many points the accuracy over all rows is lower."""
        return 100 * float(self.old.right.mean() - self.new.right.mean())

    def swapped(self) -> Pair:
        """Each row a second time, with the two answers exchanged: equally good systems that differ as these do."""
        return replace(self, old=self.old.and_then(self.new), new=self.new.and_then(self.old))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The p-values of both tests in each draw; that of the Brier score is NaN where probabilities do not count."""

    answers: Values
    brier: Values


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.power", description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".puma/changes"), help="answers of the runs (%(default)s)")
    parser.add_argument("--draws", type=int, default=1000, help="samples of each size (%(default)s)")
    parser.add_argument("--half", type=int, choices=(1, 2), help="only every other change")
    said = parser.parse_args()
    pairs = [pair for scenario in ROWS for pair in _pairs(scenario, said.cache, said.half)]
    print(_catalogue(pairs), _powers(pairs, said.draws), _constants(pairs, said.draws), sep="\n\n")


def _pairs(scenario: str, cache: Path, half: int | None) -> Iterator[Pair]:
    base = answers(scenario, BASE, cache)
    gold = np.unique([each.gold for each in base], return_counts=True)[1] / len(base)
    known = changes(scenario)
    for changed in known if half is None else known[half - 1 :: 2]:
        new = answers(scenario, changed, cache)
        sides = (Side.of(scenario, each) for each in (base, new))
        old, now = sides
        yield Pair(
            name=f"{scenario}: {changed.name}", kind=changed.kind, old=old, new=now, prior=1 - float(gold @ gold)
        )


# -- the tests, of many samples at once --------------------------------------------------------------


def evidence(pair: Pair, weights: Values, *, tolerance: float = TOLERANCE) -> Evidence:
    """Both p-values in each sample; `weights` says how often it has each row: samples x rows.

    The same as `pytest_puma.metrics.decline`, which takes one sample at a time.
    """
    worse = weights @ (pair.old.right & ~pair.new.right)
    turned = worse + weights @ (pair.new.right & ~pair.old.right)
    tail = binom.sf(worse, turned, 0.5) + binom.pmf(worse, turned, 0.5) / 2
    (before, edge), (after, other) = (_refitted(each, weights) for each in (pair.old, pair.new))
    n, rise = weights.sum(axis=1), after - before
    mean = (weights * rise).sum(axis=1) / n
    variance = ((weights * rise**2).sum(axis=1) - n * mean**2) / (n - 1)
    error = np.sqrt(np.maximum(variance, 1e-18) / n)
    brier = stdtr(n - 1, -(mean - tolerance) / error)
    skill = 1 - (weights * before).sum(axis=1) / n / pair.prior
    return Evidence(answers=tail, brier=np.where(edge | other | (skill < LEAST_SKILL), np.nan, brier))


def _refitted(side: Side, weights: Values) -> tuple[Values, NDArray[np.bool_]]:
    """The losses of all rows under the exponent that fits each sample best; whether that is at the edge."""
    best = (weights @ side.losses.T).argmin(axis=1)
    return side.losses[best], (best == 0) | (best == len(BETAS) - 1)


def stouffer(found: Evidence, correlation: float = CORRELATION) -> Values:
    """The rule of the gate."""
    joined = ndtr((_score(found.answers) + _score(found.brier)) / np.sqrt(2 + 2 * correlation))
    return np.where(np.isnan(found.brier), found.answers, joined)


def holm(found: Evidence) -> Values:
    """Twice the smaller one."""
    return np.where(np.isnan(found.brier), found.answers, 2 * np.fmin(found.answers, found.brier))


def _score(p: Values) -> Values:
    scores: Values = ndtri(np.clip(p, 1e-15, 1 - 1e-15))
    return scores


RULES: Mapping[str, Rule] = {
    "McNemar mid-p": lambda found: found.answers,
    "refitted Brier": lambda found: np.where(np.isnan(found.brier), 1.0, found.brier),
    "Holm over both": holm,
    "no_regression (Stouffer)": stouffer,
}


# -- the tables --------------------------------------------------------------------------------------


def draw(rows: int, size: int, draws: int, seed: int) -> Values:
    """How often each row is in each sample of a size: samples x rows."""
    return np.random.default_rng([seed, size]).multinomial(size, np.full(rows, 1 / rows), draws).astype(np.float64)


def _found(pair: Pair, size: int, draws: int) -> Evidence:
    return evidence(pair, draw(len(pair.old.right), size, draws, 0))


def _groups(pairs: Collection[Pair]) -> dict[str, list[Pair]]:
    """Changes by what they cost."""
    words = [each for each in pairs if each.kind in {"wording", "text"}]
    others = [each for each in pairs if each.kind != "temperature"]
    return {
        "harmless": [each for each in words if abs(round(each.fall, 2)) <= HARMLESS],
        "temperature": [each for each in pairs if each.kind == "temperature"],
        "falls of 1.5-3.5": _between(others, 1.5, 3.5),
        "falls of 4-7": _between(others, 4, 7),
        "falls over 7": _between(others, 7.01, 100),
    }


def _between(pairs: Collection[Pair], low: float, high: float) -> list[Pair]:
    return [each for each in pairs if low <= round(each.fall, 2) <= high]


def _powers(pairs: Sequence[Pair], draws: int) -> str:
    """The share of samples in which each rule FAILs, in the mean over the runs of a group."""
    columns = {
        f"{name} ({len(group)})": [[_found(pair, size, draws) for pair in group] for size in SIZES]
        for name, group in _groups(pairs).items()
        if group
    }
    others = [each for each in pairs if each.kind != "temperature"]
    columns["swapped"] = [[_found(pair.swapped(), size, draws) for pair in others] for size in SIZES]
    rows = [[name, *(_shares(found, rule) for found in columns.values())] for name, rule in RULES.items()]
    table = tabulate(rows, headers=["rule", *columns], disable_numparse=True, tablefmt="github")
    return f"FAIL at n = {' / '.join(map(str, SIZES))} (runs)\n\n{table}"


def _shares(found: Sequence[Sequence[Evidence]], rule: Rule) -> str:
    shares = (np.mean([(rule(each) <= REGRESSION_LEVEL).mean() for each in size]) for size in found)
    return " / ".join(f"{share:.3f}" for share in shares)


def _constants(pairs: Sequence[Pair], draws: int) -> str:
    """What the constants of the gate rest on."""
    groups = {name: group for name, group in _groups(pairs).items() if group}
    falls = [each for each in pairs if each.kind != "temperature" and HARMLESS <= each.fall <= 10]  # noqa: PLR2004
    middle = groups.get("falls of 4-7", [])
    changed = [float((each.old.right != each.new.right).mean()) for each in middle]
    lines = [
        (
            f"correlation of the two normal scores at n = 100, falls of 1-10 points: "
            f"{_quartiles([_correlation(each, draws) for each in falls])}"
        ),
        f"share of the answers that change between right and wrong, falls of 4-7: {_quartiles(changed)}",
    ]
    for name, group in groups.items():
        lines.append(f"rise of the refitted Brier score, {name}: {_quartiles([_rise(each) for each in group])}")
    for factor in (1.0, 1.25, 1.5, 1.75, 2.0) if middle else ():
        sizes = [round(factor * size) for size in SIZES]
        shares = _shares([[_found(each, size, draws) for each in middle] for size in sizes], RULES["McNemar mid-p"])
        lines.append(f"McNemar mid-p with {factor:.2f} times as many samples, falls of 4-7: {shares}")
    return "\n".join(lines)


def _correlation(pair: Pair, draws: int) -> float:
    found = _found(pair, 100, draws)
    both = ~np.isnan(found.brier)
    return float(np.corrcoef(_score(found.answers[both]), _score(found.brier[both]))[0, 1]) if both.sum() > 2 else 0.0  # noqa: PLR2004


def _rise(pair: Pair) -> float:
    before, after = (each.losses.mean(axis=1).min() for each in (pair.old, pair.new))
    return float(after - before)


def _quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]) if values else (np.nan,) * 3
    return f"median {middle:.3f} (quartiles {low:.3f}, {high:.3f}; most {max(values, default=np.nan):.3f})"


def _catalogue(pairs: Sequence[Pair]) -> str:
    rows = [
        [
            pair.name,
            pair.kind,
            f"{pair.fall:+.1f}",
            int((pair.old.right & ~pair.new.right).sum()),
            int((pair.new.right & ~pair.old.right).sum()),
            f"{_rise(pair):+.3f}",
        ]
        for pair in sorted(pairs, key=lambda each: each.fall)
    ]
    return tabulate(rows, headers=["change", "kind", "fall", "worse", "better", "Brier rise"], disable_numparse=True)


if __name__ == "__main__":
    main()
