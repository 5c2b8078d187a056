"""The size of the page: texts are left out until it fits, those first that a reader would miss last.

1. texts of right answers that no other cell answers differently and that did not flip, beyond the first 100 of a cell
2. texts of all right answers that did not flip
3. the ends of the longest remaining texts
4. all texts

Steps 1, 2 and 4 take the largest cells first. Each ends as soon as the page fits. Numbers, answers and flags of every
sample stay.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_puma.report.page import encoding
from pytest_puma.report.page.cells import CellBlocks
from pytest_puma.report.page.scenario import ScenarioBlocks

#: Right answers of a cell whose texts the first step keeps.
_FIRST = 100
#: Characters of a text that the third step always keeps, and its tries, of which the last one keeps no more.
_SHORTEST, _TRIES = 300, 4
#: A shorter text deflates worse, and what is around it stays.
_MARGIN = 0.93

#: Texts of an entry beside the replies of each turn, and those of a finding.
_REPLIES, _FINDINGS = ("reply", "parsed"), ("text", "program")

#: From the flags of a cell to the indices of the predictions whose texts are left out.
_Choice: TypeAlias = Callable[["array[int]"], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The number of samples without `texts`, and of those with a text that was `shortened`."""

    texts: int = 0
    shortened: int = 0

    def __bool__(self) -> bool:
        return bool(self.texts or self.shortened)


def left_out(cells: Iterable[CellBlocks]) -> LeftOut:
    """Count what is missing in the cells."""
    flags = [flag for cell in cells for flag in cell.flags]
    kept = [flag for flag in flags if not flag & encoding.LEFT_OUT]
    return LeftOut(texts=len(flags) - len(kept), shortened=sum(bool(flag & encoding.SHORTENED) for flag in kept))


class Budget:
    """The texts of a page: those of its cells, and the pieces of prompts of its scenarios, packed.

    `fixed`: the length of everything else.
    """

    def __init__(self, scenarios: Iterable[ScenarioBlocks], cells: Mapping[int, CellBlocks], *, fixed: int) -> None:
        shown = {number: cell for number, cell in cells.items() if cell.texts}
        self._scenarios = [
            (scenario, [shown[number] for number in scenario.cells if number in shown]) for scenario in scenarios
        ]
        self._fixed = fixed
        self._length: int | None = None
        self.pieces = [encoding.packed_json({"pieces": list(scenario.pieces)}) for scenario, _ in self._scenarios]

    def fit(self, limit: int) -> None:
        """Leave texts out until the page has at most as many bytes."""
        if self._leave_out(_equal, limit) or self._leave_out(_right, limit):
            return
        for left in reversed(range(_TRIES)):
            length = self._fitting_length(limit) if left else _SHORTEST
            if self._shorten(length, limit):
                return
            if length == _SHORTEST:
                break
        self._leave_out(lambda flags: range(len(flags)), limit)

    @property
    def _size(self) -> int:
        texts = sum(encoding.text_length(cell.texts) for cell in self._cells())
        return self._fixed + texts + sum(map(encoding.text_length, self.pieces))

    def _cells(self) -> Iterator[CellBlocks]:
        return (cell for _, cells in self._scenarios for cell in cells)

    def _leave_out(self, choice: _Choice, limit: int) -> bool:
        """Leave texts out, the largest cells first; return True if the page fits."""
        for cell in sorted(self._cells(), key=lambda cell: -len(cell.texts)):
            if self._size <= limit:
                break
            chosen, entries = list(choice(cell.flags)), _entries(cell)
            for index in chosen:
                entries[cell.rows[index]] = None
                cell.flags[index] |= encoding.LEFT_OUT
            if chosen:
                cell.texts = encoding.packed_json({"rows": entries})
        else:
            self._pack_pieces()
        return self._size <= limit

    def _fitting_length(self, limit: int) -> int:
        """The characters of a text with which the page would fit, were all texts alike."""
        share = _MARGIN * (limit - self._fixed) / max(1, self._size - self._fixed)
        return max(_SHORTEST, _cut(self._lengths(), share))

    def _lengths(self) -> NDArray[np.int64]:
        """The characters of each kept text."""
        entries = (entry for cell in self._cells() for entry in _entries(cell) if entry is not None)
        replies = (text for entry in entries for each in _with_old(entry) for text in _replies(each))
        pieces = (piece for scenario, cells in self._scenarios for piece in self._pieces(scenario, cells))
        return np.array([len(text) for texts in (replies, pieces) for text in texts], dtype=np.int64)

    def _shorten(self, length: int, limit: int) -> bool:
        """Cut the ends of all texts that are longer; return True if the page fits."""
        self._length = length
        for scenario, cells in self._scenarios:
            long = {number for number, piece in enumerate(scenario.pieces) if len(piece) > length}
            for cell in cells:
                self._shorten_cell(cell, length, long)
        self._pack_pieces()
        return self._size <= limit

    def _shorten_cell(self, cell: CellBlocks, length: int, long: set[int]) -> None:
        entries = _entries(cell)
        repack = False
        for index, row in enumerate(cell.rows):
            entry = entries[row]
            if entry is None:
                continue
            shortened = sum(_shortened(each, length) for each in _with_old(entry)) > 0
            repack |= shortened
            if shortened or not long.isdisjoint(_numbers(entry)):
                cell.flags[index] |= encoding.SHORTENED
        if repack:
            cell.texts = encoding.packed_json({"rows": entries})

    def _pieces(self, scenario: ScenarioBlocks, cells: Sequence[CellBlocks]) -> list[str]:
        """The pieces of the prompts, as long as they may be; those that no kept text needs are empty."""
        needed = {number for cell in cells for entry in _entries(cell) if entry for number in _numbers(entry)}
        return [piece[: self._length] if number in needed else "" for number, piece in enumerate(scenario.pieces)]

    def _pack_pieces(self) -> None:
        self.pieces = [
            encoding.packed_json({"pieces": self._pieces(scenario, cells)}) for scenario, cells in self._scenarios
        ]


def _equal(flags: array[int]) -> Iterator[int]:
    """Right answers like those of all other cells, beyond the first ones."""
    return islice((index for index in _right(flags) if not flags[index] & encoding.DIFFERS), _FIRST, None)


def _right(flags: array[int]) -> Iterator[int]:
    """Right answers that did not flip."""
    return (
        index
        for index, flag in enumerate(flags)
        if flag & encoding.RIGHT and not flag & (encoding.FLIP_WORSE | encoding.FLIP_BETTER)
    )


def _entries(cell: CellBlocks) -> list[Any]:
    """The entries of a cell in the block `t`, None for those left out."""
    entries: list[Any] = encoding.unpacked_json(cell.texts)["rows"]
    return entries


def _numbers(entry: dict[str, Any]) -> Iterator[int]:
    """The pieces of an entry, and of the earlier one in it."""
    return (number for each in _with_old(entry) for prompt in each["prompts"] if prompt for _, number in prompt)


def _with_old(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The entry, and the one of the earlier run if it flipped."""
    return [entry, *([entry["old"]] if "old" in entry else [])]


def _replies(entry: dict[str, Any]) -> list[str]:
    """The texts of an entry but those of its prompts."""
    found = (finding[name] for finding in entry.get("findings", ()) for name in _FINDINGS if finding.get(name))
    return [*entry["replies"], *(entry[name] for name in _REPLIES if entry.get(name)), *found]


def _shortened(entry: dict[str, Any], length: int) -> bool:
    """Cut the replies of an entry; return True if one was longer."""
    longer = any(len(text) > length for text in _replies(entry))
    entry["replies"] = [reply[:length] for reply in entry["replies"]]
    for part, names in ((entry, _REPLIES), *((finding, _FINDINGS) for finding in entry.get("findings", ()))):
        part.update({name: part[name][:length] for name in names if part.get(name)})
    return longer


def _cut(lengths: NDArray[np.int64], share: float) -> int:
    """Return the length to which the longest texts are cut, so that this share of all characters is left."""
    goal = share * lengths.sum()
    low, high = 0, int(lengths.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(lengths, middle).sum() <= goal else (low, middle - 1)
    return low
