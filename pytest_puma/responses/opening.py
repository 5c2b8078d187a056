"""Opening the file of the response store: to write, else to read, else not at all, with the reason as a sentence.

Source of the read-only cases: SQLite, "Write-ahead logging", sections 5 and 11.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pytest_puma.platform.files import PRIVATE
from pytest_puma.platform.locks import locked
from pytest_puma.platform.project_folder import make_private
from pytest_puma.responses.place import WAL, checked_place, is_ours, saving, set_aside
from pytest_puma.responses.schema import VERSION, ForeignFileError, OtherVersionError, check, create_tables

#: Seconds to wait for another process, which holds the lock for milliseconds.
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open store. `connection` is None if the file cannot even be read; `note`: a sentence if not all is well.

    `inode`: that of the file if it can be written, as another process may rename it.
    """

    connection: sqlite3.Connection | None
    writable: bool = False
    inode: int = 0
    note: str = ""


def open_to_write(path: Path) -> Opened:
    """Open the store, and create it if it does not exist. A damaged file is set aside, and a new store begins."""
    inode = _inode(path)
    try:
        return _writable(path)
    except (OtherVersionError, ForeignFileError) as error:
        return Opened(connection=None, note=_refusal(error, path))
    except (OSError, sqlite3.OperationalError) as error:
        return _read_only(path, why=_reason(error))
    except sqlite3.DatabaseError as error:
        if not is_ours(path):
            return Opened(connection=None, note=_refusal(ForeignFileError(), path))
        return open_anew(path, inode, why=str(error))


def open_to_read(path: Path) -> Opened:
    """Open an existing store without changing it."""
    if not path.exists():
        return Opened(connection=None, note=f"there is no response store {path}")
    return _read_only(path, why="")


def _writable(path: Path) -> Opened:
    note = ""
    make_private(checked_place(path).parent)
    # SQLite creates the files beside it with the same mode. A file that exists is not opened here: to close it again
    # would release the locks of this process.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    # Before it is opened: if another process replaces the file now, the number is that of no file any more.
    inode = _inode(path)
    connection = _connected(path)
    try:
        # SQLite does not wait for a process that begins to write ahead at the same time.
        with nullcontext() if check(connection) == VERSION else locked(path.parent):
            # Before anything is written: later it has no effect.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            if _journal(connection, "WAL") == "wal":
                connection.execute("PRAGMA synchronous=NORMAL")
            else:
                _journal(connection, "TRUNCATE")
                connection.execute("PRAGMA synchronous=FULL")
                note = f"{path} is on a file system without shared memory, such as NFS: keeping an answer takes longer"
            connection.execute("PRAGMA secure_delete=FAST")
            create_tables(connection)
    except BaseException:
        connection.close()
        raise
    return Opened(connection=connection, writable=True, inode=inode, note=note)


def _journal(connection: sqlite3.Connection, mode: Literal["WAL", "TRUNCATE"]) -> str:
    """Ask for a way to write; return the one that the file system allows."""
    try:
        (granted,) = connection.execute(f"PRAGMA journal_mode={mode}").fetchone()
    except sqlite3.OperationalError as error:
        if mode == "WAL" and any(text in str(error) for text in ("locking protocol", "disk I/O")):
            return ""
        raise
    return str(granted)


def _read_only(path: Path, *, why: str) -> Opened:
    """Open what may only be read; `why` it cannot be written, if that was tried."""
    try:
        return _checked(_reader(checked_place(path)), path, why)
    except (OSError, sqlite3.Error) as error:
        # The reason of the system, if any, is plainer than that of SQLite.
        why = why if isinstance(error, sqlite3.Error) and why else _reason(error)
    return Opened(connection=None, note=f"{path} cannot be opened: {why}")


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write.

    A cleanly closed store needs `immutable`; with it, rows that a killed process left in the log would be missing.
    """
    way = _plain if _has_rows(path.with_name(path.name + WAL)) else _immutable
    with suppress(OSError, sqlite3.Error):
        return way(path)
    return _copied(path)


def _checked(connection: sqlite3.Connection, path: Path, why: str) -> Opened:
    """A connection to a store that this version can read, although it cannot write it, `why` or not."""
    try:
        version = check(connection)
    except (OtherVersionError, ForeignFileError) as error:
        connection.close()
        return Opened(connection=None, note=_refusal(error, path))
    except BaseException:
        connection.close()
        raise
    if not version:
        connection.close()
        return Opened(connection=None, note=f"{path} cannot be written: {why}" if why else f"{path} is empty")
    note = f"{path} can only be read, so that no answers are kept: {why}" if why else ""
    return Opened(connection=connection, note=note)


def _refusal(error: OtherVersionError | ForeignFileError, path: Path) -> str:
    if isinstance(error, OtherVersionError):
        return f"{path} is from another version of pytest-puma, and is not touched"
    return f"{path} is no response store, and is not touched; expected another puma_store_path"


def _has_rows(log: Path) -> bool:
    try:
        return log.stat().st_size > 0
    except OSError:
        return False


def _plain(path: Path) -> sqlite3.Connection:
    return _tried(_connected(f"{path.absolute().as_uri()}?mode=ro"))


def _immutable(path: Path) -> sqlite3.Connection:
    return _tried(_connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1"))


def _copied(path: Path) -> sqlite3.Connection:
    """Open a copy, in memory once it is read: a store without the file of its shared memory, in a read-only folder."""
    with tempfile.TemporaryDirectory(prefix="puma-") as folder:
        for file in (path, path.with_name(path.name + WAL)):
            if file.exists():
                shutil.copyfile(file, Path(folder, file.name))
        whole = _connected(":memory:")
        with closing(_connected(Path(folder, path.name))) as copy:
            copy.backup(whole)
    return whole


def _connected(place: Path | str) -> sqlite3.Connection:
    """A connection to a path or a URI, which is not read yet."""
    connection = sqlite3.connect(
        place, uri=isinstance(place, str), timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    # A damaged text is found by the checksum of its row, and must not hide the other rows.
    connection.text_factory = lambda text: text.decode(errors="replace")
    return connection


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, if the file can be read; SQLite opens it only now."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


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
        return Opened(connection=None, note=f"{path} is damaged ({why}) and cannot be replaced: {error}")
    return replace(opened, note=note or opened.note)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
