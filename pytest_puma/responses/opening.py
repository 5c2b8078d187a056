"""Opening the file of the response store: to write, else to read, else not at all, with the reason as a sentence.

Source of the read-only cases: SQLite, "Write-ahead logging", sections 5 and 11.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_puma.platform.files import PRIVATE
from pytest_puma.platform.locks import locked
from pytest_puma.platform.project_folder import make_private
from pytest_puma.responses.schema import (
    VERSION,
    WAL,
    UnusableError,
    checked_path,
    complete_columns,
    create_tables,
    is_ours,
    saving,
    set_aside,
    version_of,
)

#: Seconds to wait for another process, which holds the lock for milliseconds.
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open store. `connection` is None if the file cannot even be read; `note`: a sentence if not all is well.

    `inode`: that of the file if it can be written, as another process may rename it.
    """

    connection: sqlite3.Connection | None = None
    writable: bool = False
    inode: int = 0
    note: str = ""


def open_to_write(path: Path) -> Opened:
    """Open the store, and create it if it does not exist. A damaged file is set aside, and a new store begins."""
    inode = _inode(path)
    try:
        return _writable(path)
    except UnusableError as error:
        return Opened(note=str(error))
    except (OSError, sqlite3.OperationalError) as error:
        return _read_only(path, why=_reason(error))
    except sqlite3.DatabaseError as error:
        if not is_ours(path):
            return Opened(note=str(UnusableError.foreign(path)))
        return open_anew(path, inode, why=str(error))


def open_to_read(path: Path) -> Opened:
    """Open an existing store without changing it."""
    return _read_only(path) if path.exists() else Opened(note=f"there is no response store {path}")


def open_anew(path: Path, inode: int, *, why: str) -> Opened:
    """Set a damaged store aside, and begin another one; `inode`: that of the damaged one.

    Another process may have done so in the meantime.
    """
    note = ""
    try:
        with locked(path.parent):
            if _inode(path) == inode:
                aside = set_aside(path)
                note = f"{path} was damaged ({why}) and is now {aside.name}; {saving(aside)}"
        opened = _writable(path)
    except (OSError, sqlite3.Error) as error:
        return Opened(note=f"{path} is damaged ({why}) and cannot be replaced: {error}")
    return replace(opened, note=note or opened.note)


def _writable(path: Path) -> Opened:
    note = ""
    make_private(checked_path(path).parent)
    # SQLite creates the files beside it with the same mode. A file that exists is not opened here: to close it again
    # would release the locks of this process.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    # Before it is opened: if another process replaces the file now, the number is that of no file any more.
    inode = _inode(path)
    connection = _connected(path)
    try:
        # SQLite does not wait for a process that begins to write ahead at the same time.
        with nullcontext() if version_of(connection, path) == VERSION else locked(path.parent):
            # Before anything is written: later it has no effect.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            if _writes_ahead(connection):
                connection.execute("PRAGMA synchronous=NORMAL")
            else:
                connection.execute("PRAGMA journal_mode=TRUNCATE").fetchone()
                note = f"{path} is on a file system without shared memory, such as NFS: keeping an answer takes longer"
            connection.execute("PRAGMA secure_delete=FAST")
            create_tables(connection, path)
    except BaseException:
        connection.close()
        raise
    return Opened(connection=connection, writable=True, inode=inode, note=note)


def _writes_ahead(connection: sqlite3.Connection) -> bool:
    """Ask for write-ahead logging; return whether the file system allows it."""
    try:
        return bool(connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",))
    except sqlite3.OperationalError as error:
        if any(text in str(error) for text in ("locking protocol", "disk I/O")):
            return False
        raise


def _read_only(path: Path, *, why: str = "") -> Opened:
    """Open what may only be read; `why` it cannot be written, if that was tried."""
    connection = None
    try:
        log = checked_path(path).with_name(path.name + WAL)
        # A cleanly closed store needs `immutable`; with it, rows that a killed process left in the log would be
        # missing.
        immutable = "" if log.is_file() and log.stat().st_size else "&immutable=1"
        connection = _connected(f"{path.absolute().as_uri()}?mode=ro{immutable}")
        if version_of(connection, path):
            complete_columns(connection)
            note = f"{path} can only be read, so that no answers are kept: {why}" if why else ""
            return Opened(connection=connection, note=note)
        note = f"{path} cannot be written: {why}" if why else f"{path} is empty"
    except UnusableError as error:
        note = str(error)
    except (OSError, sqlite3.Error) as error:
        # The reason of the system, if any, is plainer than that of SQLite.
        reason = why if isinstance(error, sqlite3.Error) and why else _reason(error)
        note = f"{path} cannot be {'opened' if path.exists() else 'written'}: {reason}"
    if connection is not None:
        connection.close()
    return Opened(note=note)


def _connected(file: Path | str) -> sqlite3.Connection:
    """A connection to a path or a URI, which is not read yet."""
    connection = sqlite3.connect(
        file, uri=isinstance(file, str), timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    # A damaged text is found by the checksum of its row, and must not hide the other rows.
    connection.text_factory = lambda text: text.decode(errors="replace")
    return connection


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
