"""Atomic writing of files, and locks of folders, for several processes at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from secrets import token_hex
from typing import TextIO


def write_whole(path: Path, text: str) -> None:
    """Replace the file atomically: a reader sees the old text or the new one, never half of it."""
    # Containers that share a folder may have equal process ids.
    half = path.with_name(f".{path.name}.{os.getpid()}.{token_hex(4)}")
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


@contextmanager
def appending(path: Path) -> Iterator[TextIO]:
    """Open a file to append to it; if the block fails or is interrupted, the file gets its old length."""
    size = path.stat().st_size if path.exists() else 0
    try:
        with path.open("a", encoding="utf-8") as stream:
            yield stream
    except BaseException:
        with suppress(OSError):
            os.truncate(path, size)
        raise


def make_folder(path: Path) -> Path:
    """Create a new folder; if the name exists, `-02` or a higher number is appended to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = chain([path.name], (f"{path.name}-{number:02}" for number in count(2)))
    return next(folder for folder in map(path.with_name, names) if _created(folder))


def _created(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def obstacle(path: Path) -> str:
    """Return the reason why a file cannot be written, as far as it can be checked before; empty if it can."""
    if path.is_dir():
        return f"{path} is a folder"
    if path.exists():
        return "" if os.access(path, os.W_OK) else f"{path} is not writable"
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir():
        return f"{parent} is not a folder"
    return "" if os.access(parent, os.W_OK | os.X_OK) else f"the folder {parent} is not writable"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock of an existing folder and hold it: a file `.lock` that is removed at the end."""
    path = folder / ".lock"
    descriptor = _hold(path)
    try:
        yield
        # Windows does not remove a file that another process has open; the last holder removes it.
        with suppress(PermissionError):
            path.unlink()
    finally:
        os.close(descriptor)


def _hold(path: Path) -> int:
    """The descriptor of the locked file; it is opened again if the last holder removed the file in the meantime."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        _lock(descriptor)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
