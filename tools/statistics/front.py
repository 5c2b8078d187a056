"""`python -m tools.statistics.front`: how often chance alone puts a point on the front, or calls it dominated.

The points of a grid have known values of two metrics, each on samples of its own. "On the front" is wrong if another
point is truly as good on both, "dominated" if none is truly better on both. Shares of the points, then of the grids
with any wrong one. In brackets: by the share of bootstrap resamples in which a point is not dominated, at least 95 % or
at most 5 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_puma.analysis.front import fronts
from pytest_puma.core import CellId, Outcome
from pytest_puma.gates.grammar import parse_gate
from tools.statistics.selection import Population, cells_of

SIZES = (50, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The true values of the points on two metrics."""

    name: str
    rates: tuple[float, ...]
    other_rates: tuple[float, ...]


GRIDS = (
    Grid(name="3 equal", rates=(0.6,) * 3, other_rates=(0.6,) * 3),
    Grid(name="6 equal", rates=(0.6,) * 6, other_rates=(0.6,) * 6),
    Grid(name="12 equal", rates=(0.6,) * 12, other_rates=(0.6,) * 12),
    Grid(name="6 equal on one metric, apart on the other", rates=(0.6,) * 6, other_rates=(0.1, 0.3, 0.5, 0.7, 0.9, 1)),
    Grid(
        name="3 on a front, 3 worse by 0.2",
        rates=(0.4, 0.6, 0.8, 0.2, 0.4, 0.6),
        other_rates=(0.8, 0.6, 0.4, 0.6, 0.4, 0.2),
    ),
)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m tools.statistics.front", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="grids of each row (%(default)s)")
    parser.add_argument("--size", type=int, action="append", help="only this one; may be repeated")
    parser.add_argument("--metric", default="accuracy", help="accuracy or f1_macro (%(default)s)")
    parser.add_argument("--grid", default="", help="only those whose name contains this")
    options = parser.parse_args()
    columns = ("wrongly on the front", "wrongly dominated", "decided rightly", "grids with a wrong point")
    print(f"| grid | samples | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for grid in (grid for grid in GRIDS if options.grid in grid.name):
        for size in options.size or SIZES:
            shares = _simulate(grid, size, options.draws, options.metric)
            print(f"| {grid.name} | {size} | {' | '.join(shares)} |", flush=True)


def _simulate(grid: Grid, size: int, draws: int, metric: str) -> list[str]:
    counts = np.zeros((2, 4))
    for number in range(draws):
        both = [
            _cells(rates, scenario, metric, [number, len(scenario), size])
            for rates, scenario in ((grid.rates, "quality"), (grid.other_rates, "cost"))
        ]
        (front,) = fronts([cell for side in both for cell in side])
        counts += [_counted(grid, [point.standing for point in front.points]), _counted(grid, _by_share(both, metric))]
    return [f"{tested:.3f} ({by_share:.3f})" for tested, by_share in (counts / draws).T]


def _counted(grid: Grid, standings: Sequence[str]) -> list[float]:
    truths = np.array([grid.rates, grid.other_rates])
    leads = truths[:, :, None] - truths[:, None]  # of a point over another one
    equalled = ((leads <= 0).all(axis=0) & ~np.eye(len(standings), dtype=bool)).any(axis=1)
    beaten = (leads < 0).all(axis=0).any(axis=1)
    front, dominated = (np.array([found == word for found in standings]) for word in ("on the front", "dominated"))
    wrong = front & equalled, dominated & ~beaten
    right = (front & ~equalled) | (dominated & beaten)
    return [float(number) for number in (*(share.mean() for share in (*wrong, right)), (wrong[0] | wrong[1]).any())]


def _by_share(both: Sequence[Sequence[Outcome]], metric: str) -> list[str]:
    """The standings by the share of resamples."""
    values = [np.array([cell.judgement.replicates[metric].values for cell in side]) for side in both]
    better = np.logical_and.reduce([side[:, None] > side[None] for side in values])
    shares = 1 - better.any(axis=0).mean(axis=1)
    return ["on the front" if share >= 0.95 else "dominated" if share <= 0.05 else "undecided" for share in shares]  # noqa: PLR2004


def _cells(rates: Sequence[float], scenario: str, metric: str, seed: Sequence[int]) -> list[Outcome]:
    """The plain model and its variants, as cells of a scenario of this name."""
    gate = parse_gate(f"max({metric} over variant) >= 0")
    made = cells_of(
        Population(name="", rates=tuple(rates), gate=str(gate)), gate, np.random.default_rng(seed), seed[-1]
    )
    models = ("q", *(f"q+v-{number}" for number in range(1, len(made))))
    return [replace(cell, name=CellId(scenario, "s", model)) for cell, model in zip(made, models, strict=True)]


if __name__ == "__main__":
    main()
