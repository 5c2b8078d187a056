"""Files that others may read while they are written, and folders in which others may write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from secrets import token_hex


def write_whole(path: Path, text: str) -> None:
    """Put the text in place at once: whoever reads sees the old file or the new one, never half of it."""
    # Containers that share a folder may have equal process ids.
    half = path.with_name(f".{path.name}.{os.getpid()}.{token_hex(4)}")
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> Path:
    """Create a folder that nobody else has: where the name is taken, `-02` or a higher number is added to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = chain([path.name], (f"{path.name}-{number:02}" for number in count(2)))
    return next(made for made in map(path.with_name, names) if _is_made(made))


def _is_made(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def obstacle(path: Path) -> str:
    """Why a file cannot be written, as far as that shows before it is; empty where it can."""
    if path.is_dir():
        return f"{path} is a folder"
    if path.exists():
        return "" if os.access(path, os.W_OK) else f"{path} may not be written"
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir():
        return f"{parent} is no folder"
    return "" if os.access(parent, os.W_OK | os.X_OK) else f"nothing may be written in {parent}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until nobody else holds the lock of an existing folder, and hold it: a file `.lock` that goes in the end."""
    path = folder / ".lock"
    descriptor = _hold(path)
    try:
        yield
        # Windows removes no file that somebody waits for: the last one does.
        with suppress(PermissionError):
            path.unlink()
    finally:
        os.close(descriptor)


def _hold(path: Path) -> int:
    """The descriptor of the locked file; a new one where the last holder has removed what was waited for."""
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
