"""Intervals for numbers measured on a sample: pure functions of arrays, which know neither predictions nor gates.

A bootstrap is a matrix of weights, one row a resample and one column an observation: how often the
observation occurs in that resample. Whoever can compute a number from weighted observations has its
interval too: `percentile_interval(number(weights))`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Units: TypeAlias = Sequence[tuple[str, ...]]
Interval: TypeAlias = tuple[float, float]

LEVEL = 0.95
RESAMPLES = 2000
_DRAWS_AT_ONCE = 1_000_000  # 8 MB of draws


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """The Wilson score interval of a proportion; NaN for n = 0.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927). It keeps its coverage near 0 and 1, where the textbook interval collapses.
    """
    if not 0 <= successes <= n:
        msg = f"{successes} successes of {n}; expected 0 <= successes <= n"
        raise ValueError(msg)
    if n == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if successes == 0 else (centre - reach) / scale
    high = 1.0 if successes == n else (centre + reach) / scale
    return low, high


def smallest_difference(spread: float, n: int, level: float = LEVEL) -> float:
    """The least difference of two means that a test at this level calls real; NaN for n = 0.

    Each is a mean of `n` observations of their own with the standard deviation `spread` (of a proportion at most 0.5).
    It is the reach of the normal interval of a difference: z * spread * sqrt(2 / n).
    """
    return NormalDist().inv_cdf((1 + level) / 2) * spread * math.sqrt(2 / n) if n else math.nan


def samples_to_decide(*, distance: float, reach: float, n: int) -> float:
    """About how many samples make an interval that reaches so far, at `n` samples, shorter than a distance.

    Intervals shrink with the square root of the samples. Infinite where the distance is 0.
    """
    return n * (reach / distance) ** 2 if distance else math.inf


def percentile_interval(values: NDArray[np.float64], level: float = LEVEL) -> Interval:
    """The central `level` of the values. NaN (a resample with nothing to measure) is left out; NaN if none is left."""
    known = values[~np.isnan(values)]
    if known.size == 0:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def share_units(units: Units) -> bool:
    """Whether any two rows have a unit in common, so that they are not independent."""
    names = list(chain.from_iterable(map(set, units)))
    return len(set(names)) < len(names)


def components(units: Units) -> list[int]:
    """The number of the group of each row, where rows that share a unit, or are linked by others, are one group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes: dict[str | int, int] = {}
    links = [
        (row, nodes.setdefault(name, len(units) + len(nodes)))
        for row, names in enumerate(units)
        for name in names or (row,)
    ]
    size = len(units) + len(nodes)
    start, end = np.array(links, dtype=np.intp).reshape(-1, 2).T
    _, groups = connected_components(coo_array((np.ones(len(links)), (start, end)), shape=(size, size)), directed=False)
    return [int(group) for group in groups[: len(units)]]


def resampling_weights(units: Units, *, resamples: int = RESAMPLES, seed: int) -> NDArray[np.int32]:
    """How often each row occurs in each bootstrap resample: resamples x rows.

    `units[row]` names what the row is made of; a row that names nothing is its own unit. Units that
    occur in exactly the same rows are one atom. Atoms are drawn with replacement, and a row occurs
    as often as the product of its atoms' counts (A. B. Owen, "The pigeonhole bootstrap", Annals of
    Applied Statistics 1 (2007); where atoms are shared, its intervals err on the wide side). Where
    no unit is shared, an atom is a row and this is the ordinary bootstrap.

    A resample in which no row occurs measures nothing and is left out, so there may be fewer than
    `resamples`; this can only happen where units are shared.
    """
    atoms_of = _atoms_of_rows(units)
    atoms = int(atoms_of.max(initial=0))
    weights = np.empty((resamples, len(units)), dtype=np.int32)
    start = 0
    for counts in _atom_counts(atoms, resamples, np.random.default_rng(seed)):
        stop = start + len(counts)
        weights[start:stop] = reduce(np.multiply, (counts[:, column] for column in atoms_of.T))
        start = stop
    measures = weights.any(axis=1)
    return weights if measures.all() else weights[measures]


def _atoms_of_rows(units: Units) -> NDArray[np.intp]:
    """The atoms of each row, from 1; rows with fewer atoms than others are filled up with 0: rows x most atoms."""
    rows_of: dict[str | int, list[int]] = {}
    for row, names in enumerate(units):
        for name in dict.fromkeys(names) or (row,):
            rows_of.setdefault(name, []).append(row)
    atoms: list[list[int]] = [[] for _ in units]
    for atom, rows in enumerate(dict.fromkeys(map(tuple, rows_of.values())), start=1):
        for row in rows:
            atoms[row].append(atom)
    width = max(map(len, atoms), default=1)
    return np.array([found + [0] * (width - len(found)) for found in atoms], dtype=np.intp).reshape(-1, width)


def _atom_counts(atoms: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """How often each atom is drawn, in blocks of resamples x (1 + atoms); column 0, the filler, counts 1."""
    block = max(1, _DRAWS_AT_ONCE // (atoms + 1))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        # Counting uniform draws is a multinomial sample, and several times as fast as `rng.multinomial`.
        draws = rng.integers(1, atoms + 1, size=(rows, atoms)) + np.arange(rows)[:, None] * (atoms + 1)
        counts = np.bincount(draws.ravel(), minlength=rows * (atoms + 1)).reshape(rows, atoms + 1)
        counts[:, 0] = 1
        yield counts
