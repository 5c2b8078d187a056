"""The records of an SQLite file, read page by page without SQLite, which finds none behind a damaged page.

    for record in records(Path("responses.damaged-1.sqlite")):
        record.id, record.values          # 17, (None, "20260101T000000-1", "2026-01-01")

The log beside the file is read too. Nothing is checked: a damaged page may give records that were never written, and a
page that is no longer used gives those that were deleted. Source: SQLite, "Database File Format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

#: Size of pages where the header does not tell it: SQLite's default.
_DEFAULT = 4096
_SIZES = {1: 65536} | {1 << bit: 1 << bit for bit in range(9, 16)}
#: Bytes of the file's header, of that of the log, and of those of its pages.
_HEADER, _LOG, _FRAME = 100, 32, 24
#: Kinds of pages with records. Those of tables have ids; the last one points to other pages too.
_TABLE, _INDEX, _INNER_INDEX = 13, 10, 2
#: Bytes of whole numbers by their type; two types are numbers themselves.
_NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
_ZERO, _ONE = 8, 9
_FLOAT, _BLOB = 7, 12
#: The bit of a byte of a number that is set if another byte follows.
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a table with its `id`, or an entry of an index, or of a table without ids."""

    id: int | None
    values: tuple[Any, ...]


def records(path: Path) -> Iterator[Record]:
    """Yield all records that can be decoded, in the order of the pages. Raises an `OSError`."""
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        log = path.with_name(f"{path.name}-wal")
        yield from _Pages(file, stack.enter_context(log.open("rb")) if log.is_file() else None).records()


class _Pages:
    """The newest version of each page, in the file or in its log."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None) -> None:
        self._file, self._log = file, log
        self._size = _SIZES.get(int.from_bytes(file.read(_HEADER)[16:18], "big"), _DEFAULT)
        self._places = {} if log is None else dict(self._logged(log))
        in_file = -(-file.seek(0, 2) // self._size)
        self._count = max(in_file, *self._places, 0)

    def records(self) -> Iterator[Record]:
        for number in range(1, self._count + 1):
            page = self._page(number)
            start = _HEADER if number == 1 else 0
            kind = page[start] if len(page) > start else 0
            if kind in {_TABLE, _INDEX, _INNER_INDEX}:
                first = start + (12 if kind == _INNER_INDEX else 8)
                cells = int.from_bytes(page[start + 3 : start + 5], "big")
                for place in range(first, min(first + 2 * cells, len(page) - 1), 2):
                    record = self._record(page, int.from_bytes(page[place : place + 2], "big"), kind)
                    if record is not None:
                        yield record

    def _logged(self, log: BinaryIO) -> Iterator[tuple[int, int]]:
        """Yield the number and the place of each page in the log: later pages replace earlier ones."""
        log.seek(_LOG)
        salt = b""
        while len(frame := log.read(_FRAME)) == _FRAME:
            # Behind the last page lie those of an earlier log, with another salt.
            salt = salt or frame[8:16]
            if frame[8:16] != salt:
                return
            yield int.from_bytes(frame[:4], "big"), log.tell()
            log.seek(self._size, 1)

    def _page(self, number: int) -> bytes:
        if self._log is not None and number in self._places:
            self._log.seek(self._places[number])
            return self._log.read(self._size)
        if not 1 <= number <= self._count:
            return b""
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def _record(self, page: bytes, place: int, kind: int) -> Record | None:
        """The record of a cell; None if it is damaged."""
        try:
            size, place = _varint(page, place + (4 if kind == _INNER_INDEX else 0))
            number, place = _varint(page, place) if kind == _TABLE else (None, place)
            return Record(number, _values(self._payload(page, place, size, in_table=kind == _TABLE)))
        except (IndexError, ValueError, struct.error):
            return None

    def _payload(self, page: bytes, place: int, size: int, *, in_table: bool) -> bytes:
        """The bytes of a record; what does not fit into its page is in a chain of others."""
        room = self._size
        if size > room * self._count:
            raise ValueError
        most = room - 35 if in_table else (room - 12) * 64 // 255 - 23
        least = (room - 12) * 32 // 255 - 23
        kept = least + (size - least) % (room - 4)
        here = size if size <= most else kept if kept <= most else least
        parts = [page[place : place + here]]
        following = page[place + here : place + here + 4]
        for _ in range(-(-(size - here) // (room - 4))):
            page = self._page(int.from_bytes(following, "big"))
            following = page[:4]
            parts.append(page[4:])
        payload = b"".join(parts)[:size]
        if len(payload) < size:
            raise ValueError
        return payload


def _values(payload: bytes) -> tuple[Any, ...]:
    """The values of a record, which begins with their types."""
    end, place = _varint(payload, 0)
    values, start = [], end
    while place < end:
        kind, place = _varint(payload, place)
        size = _NUMBERS.get(kind, 8 if kind == _FLOAT else max(kind - _BLOB, 0) // 2)
        values.append(_value(kind, payload[start : start + size]))
        start += size
    if start != len(payload):
        raise ValueError
    return tuple(values)


def _value(kind: int, data: bytes) -> Any:
    if kind == 0:
        return None
    if kind == _FLOAT:
        return struct.unpack(">d", data)[0]
    if kind in _NUMBERS:
        return kind - _ZERO if kind in {_ZERO, _ONE} else int.from_bytes(data, "big", signed=True)
    if kind < _BLOB:
        raise ValueError
    return data if kind % 2 == 0 else data.decode(errors="replace")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A whole number of one to nine bytes, and the place behind it."""
    number = 0
    for end in range(place, place + 8):
        number = number << 7 | data[end] & ~_MORE
        if data[end] < _MORE:
            return number, end + 1
    return number << 8 | data[place + 8], place + 9
