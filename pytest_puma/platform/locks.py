"""Locks of folders, held by one process at a time. The operating system releases those of a process that ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = ".lock"
#: A link of a downloaded folder would make a file anywhere else; Windows has no such flag.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for the lock of an existing folder and hold it: a file `.lock` that is removed at the end."""
    path = folder / _NAME
    descriptor = _hold(path)
    try:
        yield
    finally:
        # Windows does not remove a file that another process has open; the last holder removes it.
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of a folder; True where the file system has no locks, as it is unknown."""
    try:
        descriptor = os.open(folder / _NAME, os.O_RDWR | _NO_LINK)
    except FileNotFoundError:
        return False
    try:
        _lock(descriptor, wait=False)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _hold(path: Path) -> int:
    """The descriptor of the locked file; it is opened again if the last holder removed the file in the meantime."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        try:
            _lock(descriptor, wait=True)
        except BaseException:
            os.close(descriptor)
            raise
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, wait: bool) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> None:
        """Without `wait`, raise an `OSError` if another process holds it. Two such calls do not see each other."""
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_SH | fcntl.LOCK_NB)
