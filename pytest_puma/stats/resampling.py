"""Bootstrap resamples: a matrix of weights, with a row for each resample and a column for each observation.

A weight counts how often the observation occurs in that resample. So any number computed from weighted observations
has an interval: `percentile_interval(number(weights))`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import TypeAlias

import numpy as np

from pytest_puma.stats.arrays import Counts, Indices, Mask, Values

Units: TypeAlias = Sequence[tuple[str, ...]]

RESAMPLES = 2000
#: Rows of resamples that cells on the same samples share: at most 8 MB each.
_SHARED_ROWS = 2000
_DRAWS_AT_ONCE = 1_000_000  # 8 MB of random numbers
_CACHED_DRAWS = 30_000  # 240 kB, which the processor's cache holds


class Resamples:
    """Resamples of some rows, drawn at first use and shared by all numbers computed on these rows.

    `units[row]` names the units of the row, `strata[row]` its stratum, as in `resampling_weights`.
    """

    def __init__(self, units: Units, *, seed: int, strata: Sequence[str] = ()) -> None:
        self.units = units
        self.seed = seed
        self.strata = tuple(strata)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.units)

    def of(self, rows: Sequence[int]) -> Resamples:
        """Return the resamples of some of the rows: this object if they are all rows in order."""
        if list(rows) == list(range(len(self))):
            return self
        strata = [self.strata[row] for row in rows] if self.strata else ()
        return Resamples([self.units[row] for row in rows], seed=self.seed, strata=strata)

    @cached_property
    def weights(self) -> Counts:
        """Resamples x rows, read-only."""
        draw = _shared_weights if len(self) <= _SHARED_ROWS else _weights
        return draw(tuple(self.units), self.seed, self.strata)

    @cached_property
    def dependent(self) -> bool:
        """Whether rows share units and so are not independent."""
        return share_units(self.units)

    @cached_property
    def independent(self) -> int:
        """Upper bound of the number of independent observations: one for each atom of `resampling_weights`."""
        return self.independent_among(np.ones(len(self), dtype=np.bool_))

    def independent_among(self, rows: Mask) -> int:
        """Upper bound of the number of independent observations among the rows of a mask."""
        atoms = self._atoms[rows]
        return min(len(atoms), len(np.unique(atoms[atoms > 0])))

    @cached_property
    def _atoms(self) -> Indices:
        return _atoms_of_rows(self.units, shared=self.dependent)


def _weights(units: tuple[tuple[str, ...], ...], seed: int, strata: tuple[str, ...]) -> Counts:
    weights = resampling_weights(units, seed=seed, strata=strata)
    weights.flags.writeable = False
    return weights


#: The cells of a benchmark follow each other, and have the same samples; early stopping looks at five parts of them.
_shared_weights = lru_cache(maxsize=8)(_weights)


def share_units(units: Units) -> bool:
    """Whether any two rows share a unit and so are not independent."""
    names = list(chain.from_iterable(map(set, units)))
    return len(set(names)) < len(names)


def components(units: Units) -> list[int]:
    """Return the group number of each row; rows that share a unit, directly or through other rows, are one group."""
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


def group_sums(values: Values, units: Units) -> Values:
    """Return the sum of each group of rows that share units (`components`), which are independent of each other.

    Returns the values unchanged if no rows share a unit, or if `units` is empty.
    """
    if not share_units(units):
        return values
    return np.asarray(np.bincount(components(units), weights=values), dtype=np.float64)


def resampling_weights(units: Units, *, resamples: int = RESAMPLES, seed: int, strata: Sequence[str] = ()) -> Counts:
    """Return how often each row occurs in each bootstrap resample: resamples x rows.

    `units[row]` names the units of the row; a row without units is its own unit. Units that
    occur in exactly the same rows are one atom. Atoms are drawn with replacement, and a row occurs
    as often as the product of its atoms' counts (A. B. Owen, "The pigeonhole bootstrap", Annals of
    Applied Statistics 1 (2007); with shared atoms, its intervals are too wide rather than too narrow).
    If no unit is shared, an atom is a row and this is the ordinary bootstrap. With `strata`, the number of atoms of
    each stratum is the same in every resample; if units are shared between strata, these do not count.

    A resample without any row measures nothing and is omitted, so there may be fewer than `resamples`;
    this can only happen if units are shared.
    """
    shared = share_units(units)
    atoms_of = _atoms_of_rows(units, shared=shared)
    atoms = int(atoms_of.max(initial=0))
    # A product of one or two counts, which are rarely above ten, stays below 2**16: half the memory in most cases.
    small = atoms_of.shape[1] <= 2  # noqa: PLR2004
    weights = np.empty((resamples, len(units)), dtype=np.uint16 if small else np.int32)
    start = 0
    rng = np.random.default_rng(seed)
    members = _members(atoms_of, strata) or [np.arange(1, atoms + 1)]
    for block in _atom_counts(members, resamples, rng):
        # Narrow numbers are selected twice as fast: more of them fit the processor's cache.
        counts = block.astype(weights.dtype, copy=False)
        stop = start + len(counts)
        of_rows = (counts.take(column, axis=1) for column in atoms_of.T)
        weights[start:stop] = reduce(np.multiply, of_rows) if shared else counts[:, 1:]
        start = stop
    if not shared:
        return weights
    measures = weights.any(axis=1)
    return weights if measures.all() else weights[measures]


def _atoms_of_rows(units: Units, *, shared: bool) -> Indices:
    """The atoms of each row, from 1, padded with 0: rows x maximum number of atoms; `shared`: that of `share_units`."""
    if not shared:
        return np.arange(1, len(units) + 1, dtype=np.intp).reshape(-1, 1)
    rows_of: dict[str | int, list[int]] = {}
    for row, names in enumerate(units):
        for name in dict.fromkeys(names) or (row,):
            rows_of.setdefault(name, []).append(row)
    atoms: list[list[int]] = [[] for _ in units]
    for atom, rows in enumerate(dict.fromkeys(map(tuple, rows_of.values())), start=1):
        for row in rows:
            atoms[row].append(atom)
    width = max(map(len, atoms), default=1)
    return np.array([row + [0] * (width - len(row)) for row in atoms], dtype=np.intp).reshape(-1, width)


def _members(atoms_of: Indices, strata: Sequence[str]) -> list[Indices] | None:
    """The atoms of each stratum; None if there are no strata, or if an atom has rows of several."""
    if not strata:
        return None
    stratum_of: dict[int, str] = {}
    for atoms, stratum in zip(atoms_of.tolist(), strata, strict=True):
        for atom in filter(None, atoms):
            if stratum_of.setdefault(atom, stratum) != stratum:
                return None
    members: dict[str, list[int]] = {}
    for atom, stratum in sorted(stratum_of.items()):
        members.setdefault(stratum, []).append(atom)
    return [np.array(atoms, dtype=np.intp) for atoms in members.values()]


def _atom_counts(members: Sequence[Indices], resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Counts of each atom, drawn from those of its stratum, in blocks of resamples x (1 + atoms).

    Column 0, the padding, counts 1.
    """
    atoms = sum(map(len, members))
    # Several strata are drawn block by block, so that the size of a block decides which numbers each one gets.
    block = max(1, (_DRAWS_AT_ONCE if len(members) > 1 else _CACHED_DRAWS) // (atoms + 1))
    for start in range(0, resamples, block):
        counts = np.ones((min(block, resamples - start), atoms + 1), dtype=np.uint16)
        for stratum in members:
            size = len(stratum)
            # Counting uniform draws is a multinomial sample, and several times as fast as `rng.multinomial`.
            draws = rng.integers(0, size, size=(len(counts), size)) + np.arange(len(counts))[:, None] * size
            drawn = np.bincount(draws.ravel(), minlength=len(counts) * size).reshape(len(counts), size)
            counts[:, stratum if len(members) > 1 else slice(1, None)] = drawn
        yield counts
