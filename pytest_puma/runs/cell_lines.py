"""The lines of `predictions.jsonl`, cell by cell. The end of a process, or a full disk, may have cut off the last cell.

Only a line with its line feed is whole, and only a cell with as many predictions as its first line announces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_puma.core import DataError

_CELL = b'{"kind": "cell"'


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLines:
    """The lines of a cell: its first one, the number of that, and the byte where the next one starts.

    `predictions`: the number of whole lines after it. `cut`: whether the last of all its lines is not whole.
    """

    first: bytes
    number: int
    start: int
    predictions: int
    cut: bool

    @property
    def first_is_whole(self) -> bool:
        """Whether the first line has its end."""
        return self.first.endswith(b"\n")


def cells_of(lines: Iterable[bytes], *, where: str) -> Iterator[CellLines]:
    """Yield the cells of a file; a `DataError` names it (`where`) if it begins with another line."""
    first, number, start, end, predictions, whole = b"", 0, 0, 0, 0, True
    for place, line in enumerate(lines, start=1):
        end += len(line)
        whole = line.endswith(b"\n")
        if line.startswith(_CELL):
            if first:
                yield CellLines(first=first, number=number, start=start, predictions=predictions, cut=False)
            first, number, start, predictions = line, place, end, 0
        elif first:
            predictions += whole
        elif whole:
            msg = f"{where}: line {place} cannot be read (no cell before it); expected a line that pytest-puma wrote"
            raise DataError(msg)
    if first:
        yield CellLines(first=first, number=number, start=start, predictions=predictions, cut=not whole)
