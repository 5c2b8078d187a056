"""`python -m tools.statistics.drift`: power of `no_drift` over a series of renewed baselines.

A series has twelve steps. At each step some answers change permanently, and may change back later; the probability of a
right answer falls by a point per step, or not at all. One series changes at the first step only, one draws some answers
again in each run. Each run is compared with the first one by McNemar's mid-p test, like `no_regression` without
probabilities, and the sum of the evidence is compared with limits. Other rules for comparison: the last run against the
first one, every run against the one before it, and Page's CUSUM for independent observations (reference 0.5, limit 5).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom
from tabulate import tabulate

from pytest_puma.stats.power import LIMIT, REFERENCE

SIZES = (50, 100, 200)
STEPS = 12
RIGHT = 0.75

Values: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Changes of answers: a share `changed` at each of the first `steps`, with a net `loss` of accuracy."""

    changed: float
    loss: float = 0.0
    steps: int = 99
    rerun: float = 0.0


SERIES: Mapping[str, Series] = {
    "no loss: 12 % change at each step": Series(changed=0.12),
    "no loss: 6 % change at each step": Series(changed=0.06),
    "no loss: 12 % change once, and stay": Series(changed=0.12, steps=1),
    "no loss: 2 % are drawn again in each run": Series(changed=0.0, steps=0, rerun=0.02),
    "1 point a step, 3 % change": Series(changed=0.03, loss=0.01),
    "1 point a step, 6 % change": Series(changed=0.06, loss=0.01),
    "1 point a step, 12 % change": Series(changed=0.12, loss=0.01),
}
#: Reference and limit of each rule.
RULES = {"no_drift": (REFERENCE, LIMIT), "CUSUM 0.5, 5": (0.5, 5.0), "CUSUM 1, 5": (1.0, 5.0)}


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.drift", description=__doc__)
    parser.add_argument("--series", type=int, default=10_000, help="of each row and size (%(default)s)")
    parser.add_argument("--steps", type=int, default=STEPS, help="of a series (%(default)s)")
    options = parser.parse_args()
    rows = []
    for name, series in SERIES.items():
        shares = [_shares(series, size, options.series, options.steps) for size in SIZES]
        rows.append([name, *(" / ".join(f"{each[rule]:.3f}" for each in shares) for rule in shares[0])])
    headers = [f"series FAIL at n = {' / '.join(map(str, SIZES))}", *shares[0]]
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))


def _shares(series: Series, n: int, count: int, steps: int) -> dict[str, float]:
    """The share of series in which each rule FAILs at any step."""
    first, last = _scores(series, n, count, steps)
    shares = {name: float(_failed(first, *limits).mean()) for name, limits in RULES.items()}
    return shares | {
        "last run against the first": float((first[:, -1] > REFERENCE).mean()),
        "each run against the last": float((last > REFERENCE).any(1).mean()),
    }


def _failed(scores: Values, reference: float, limit: float) -> Flags:
    total, failed = np.zeros(len(scores)), np.zeros(len(scores), dtype=np.bool_)
    for step in scores.T:
        total = np.maximum(0.0, total + step - reference)
        failed |= total > limit
    return failed


def _scores(series: Series, n: int, count: int, steps: int) -> tuple[Values, Values]:
    """The normal scores of all runs against the first one, and against the one before: series x steps."""
    random = np.random.default_rng(n)
    anchor = random.random((count, n)) < RIGHT
    now, observed, against = anchor, anchor, ([], [])  # type: tuple[Flags, Flags, tuple[list[Values], list[Values]]]
    for step in range(steps):
        before = observed
        if step < series.steps:
            now = _changed(random, now, series)
        again = random.random((count, n)) < series.rerun
        observed = np.where(again, random.random((count, n)) < RIGHT, now)
        for other, scores in zip((anchor, before), against, strict=True):
            scores.append(_score(observed, other))
    return np.stack(against[0], axis=1), np.stack(against[1], axis=1)


def _changed(random: np.random.Generator, now: Flags, series: Series) -> Flags:
    right = float(now.mean())
    falls = (series.changed + series.loss) / 2 / right
    rises = (series.changed - series.loss) / 2 / (1 - right)
    luck = random.random(now.shape)
    return np.where(now, luck >= falls, luck < rises)


def _score(new: Flags, old: Flags) -> Values:
    worse, better = (old & ~new).sum(axis=1), (new & ~old).sum(axis=1)
    p = binom.sf(worse, worse + better, 0.5) + binom.pmf(worse, worse + better, 0.5) / 2
    scores: Values = -ndtri(np.clip(p, 1e-15, 1 - 1e-15))
    return scores


if __name__ == "__main__":
    main()
