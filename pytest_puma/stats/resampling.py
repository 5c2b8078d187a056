"""Bootstrap resamples: a matrix of weights, one row a resample and one column an observation.

A weight is how often the observation occurs in that resample. Whoever can compute a number from weighted observations
has its interval too: `percentile_interval(number(weights))`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Units: TypeAlias = Sequence[tuple[str, ...]]

RESAMPLES = 2000
_DRAWS_AT_ONCE = 1_000_000  # 8 MB of draws


class Resamples:
    """Those of some rows, drawn when they are first needed, and once for everything that is measured on these rows.

    `units[row]` names what the row is made of, as `resampling_weights` says.
    """

    def __init__(self, units: Units, *, seed: int) -> None:
        self.units = units
        self.seed = seed

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.units)

    def of(self, rows: Sequence[int]) -> Resamples:
        """Those of some of the rows, which are these very resamples where it is all of them in order."""
        return (
            self
            if list(rows) == list(range(len(self)))
            else Resamples([self.units[row] for row in rows], seed=self.seed)
        )

    @cached_property
    def weights(self) -> NDArray[np.integer]:
        """Resamples x rows."""
        return resampling_weights(self.units, seed=self.seed)

    @cached_property
    def dependent(self) -> bool:
        """Whether rows share units, so that they are not independent."""
        return share_units(self.units)

    @cached_property
    def independent(self) -> int:
        """At most how many observations the rows are worth: one for each atom that `resampling_weights` draws."""
        return min(len(self), int(_atoms_of_rows(self.units).max(initial=0)))


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


def group_sums(values: NDArray[np.float64], units: Units) -> NDArray[np.float64]:
    """The sum of each group of rows that share units (`components`), so that what is left is independent.

    The values as they are where no row shares a unit, or where `units` is empty.
    """
    if not share_units(units):
        return values
    return np.asarray(np.bincount(components(units), weights=values), dtype=np.float64)


def resampling_weights(units: Units, *, resamples: int = RESAMPLES, seed: int) -> NDArray[np.integer]:
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
    # One or two counts, which hardly ever pass ten, cannot reach 2**16: most weights take half the memory.
    small = atoms_of.shape[1] <= 2  # noqa: PLR2004
    weights = np.empty((resamples, len(units)), dtype=np.uint16 if small else np.int32)
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
