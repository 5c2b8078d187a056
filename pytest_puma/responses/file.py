"""The file of the response store as one process has it open.

    file = StoreFile(path)
    file.rows("SELECT name FROM run")
    file.write(lambda connection: connection.execute("DELETE FROM pass"))

SQLite notices damage only when it reads the damaged page. Such a file is set aside, and the process goes on with a new
one. Any other error ends the writing of this process. Both are notes, never an exception.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from pytest_puma.responses.opening import Opened, open_anew, open_to_read, open_to_write

T = TypeVar("T")


class StoreFile:
    """`readonly` opens an existing file and never changes it.

    `ids`: ids of rows by what they stand for, as long as they are certain: another file has others.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.ids: dict[Hashable, int] = {}
        self._readonly = readonly
        self._opened: Opened | None = None
        self._notes: list[str] = []
        self._stopped = self._replaced = False

    @property
    def connection(self) -> sqlite3.Connection | None:
        """The connection of this process, opened when it is first needed; None if there is no store."""
        return self._open().connection

    @property
    def keeps(self) -> bool:
        """Whether it is written."""
        return self._open().writable and not self._stopped

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a query; none if the file cannot be read."""
        connection = self.connection
        if connection is None:
            return []
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            if not self._restart(error):
                self.note(f"{self.path} cannot be read: {error}")
            return []

    def write(self, transaction: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do all of a transaction or nothing, and return its result; None if the file is not written."""
        connection = self.connection if self.keeps else None
        if connection is None:
            return None
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return transaction(connection)
        except BaseException as error:
            self.ids.clear()
            if not isinstance(error, sqlite3.Error):
                raise
            if self._restart(error):
                return self.write(transaction)
            self._stopped = True
            self.note(f"from now on, no answers are kept in {self.path}: {error}")
            return None

    def note(self, note: str) -> None:
        """Note what is wrong."""
        if note and note not in self._notes:
            self._notes.append(note)

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes, once."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def close(self) -> None:
        """Close the file; it is opened again if it is needed."""
        if self._opened is not None and self._opened.connection is not None:
            self._opened.connection.close()
        self._opened = None

    def _open(self) -> Opened:
        return self._opened or self._use(open_to_read(self.path) if self._readonly else open_to_write(self.path))

    def _use(self, opened: Opened) -> Opened:
        self._opened = opened
        self.ids.clear()
        self.note(opened.note)
        return opened

    def _restart(self, error: sqlite3.Error) -> bool:
        """Set a damaged file aside and begin another one; return whether that was tried.

        Once in a process: a disk that damages the next file too would fill up with them.
        """
        opened = self._opened
        # A subclass is the error of a query, of a lock, or of a full disk.
        damaged = type(error) is sqlite3.DatabaseError
        if not damaged or opened is None or not opened.writable or self._replaced:
            return False
        self._replaced = True
        self.close()
        self._use(open_anew(self.path, opened.inode, why=str(error)))
        return True
