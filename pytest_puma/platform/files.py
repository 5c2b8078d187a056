"""Files that others read or write meanwhile: atomic writing, appending, checks before reading, the state of a file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, TypeAlias

#: Modes of a new file: for everybody whom the umask allows, and for its owner alone.
SHARED, PRIVATE = 0o666, 0o600
#: Characters of a file's name in the name of its temporary file, as names have a maximum length.
_NAMED = 32


class Stamp(NamedTuple):
    """The state of a file: size in bytes, modification time in nanoseconds, inode, time of the inode's last change.

    Size and time alone may be those of another file: in container layers, Nix and Bazel all times are equal. A file
    renamed over the old one has another inode, and who restores the time of a file changes its inode.
    """

    size: int
    modified: int
    inode: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp of a file by its status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)

    @property
    def content(self) -> tuple[int, int, int]:
        """The part that a new name, another link or other rights leave as it is."""
        return self.size, self.modified, self.inode


#: The stamp of each file of a model.
Stamps: TypeAlias = tuple[Stamp, ...]


def write_whole(path: Path, text: str | bytes, *, mode: int = SHARED) -> None:
    """Replace a file atomically: a reader sees the old text or the new one, never half of it.

    A missing folder is made. An old file keeps its owner and its mode; `mode` is that of a new one. Of a link, the file
    is replaced that it points to. A device or a pipe, such as /dev/stdout, only gets the text. An `OSError` or a
    `UnicodeEncodeError` leaves the old file and nothing else.
    """
    write_together({path: text}, mode=mode)


def write_together(texts: Mapping[Path, str | bytes], *, mode: int = SHARED) -> None:
    """Replace files that belong together, as `write_whole`. All texts are on the disk before the first file changes."""
    halves: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            data, old = text.encode() if isinstance(text, str) else text, _status(path)
            if old is not None and not stat.S_ISREG(old.st_mode):
                path.write_bytes(data)
                continue
            target = Path(os.path.realpath(path))
            # Containers that share a folder may have equal process ids.
            halves.append((target.with_name(f".{target.name[:_NAMED]}.{os.getpid()}.{token_hex(4)}"), target))
            _write(halves[-1][0], data, mode=mode, old=old)
        for half, target in halves:
            _replace(half, target)
    finally:
        for half, _ in halves:
            with suppress(OSError):
                half.unlink(missing_ok=True)


def append(path: Path, texts: Iterable[str], *, end: int, mode: int = SHARED) -> int:
    """Append texts to a file, and return its size in bytes; `end` is the size after the last call, at first 0.

    An `OSError` leaves the file as it was. What it may leave nevertheless, and the end of the process too, lies behind
    `end`, and the next call cuts it off. A file that another program has shortened is continued at its end.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode), "ab") as stream:
            end = min(end, stream.seek(0, os.SEEK_END))
            stream.truncate(end)
            stream.writelines(text.encode() for text in texts)
            stream.flush()
            return stream.tell()
    except BaseException:
        # After the file was closed: that writes the rest of the buffer, once there is room again.
        with suppress(OSError):
            os.truncate(path, end)
        raise


def make_folder(path: Path, *, mode: int = 0o777) -> Path:
    """Create a new folder; if the name exists, `-02` or a higher number is appended to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = chain([path.name], (f"{path.name}-{number:02}" for number in count(2)))
    while True:
        folder = path.with_name(next(names))
        with suppress(FileExistsError):
            folder.mkdir(mode)
            return folder


def regular(path: Path, *, links: bool = True) -> Path:
    """Return the path itself; an `OSError` if there is a pipe or a device, or, without `links`, a link.

    A pipe would be read for ever, and a link of a downloaded folder leads anywhere.
    A missing file and a folder are no fault here: the system reports them when they are opened.
    """
    with suppress(FileNotFoundError):
        mode = path.stat(follow_symlinks=links).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            link = stat.S_ISLNK(mode)
            fault = "a link in place of a file; remove it" if link else "a pipe or a device in place of a file"
            raise OSError(errno.EINVAL, fault, str(path))
    return path


def obstacle(path: Path) -> str:
    """Return the reason why a file cannot be written, as far as it can be checked before; empty if it can."""
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.is_dir():
        return f"{path} is a folder"
    if path.exists() and not os.access(path, os.W_OK):
        return f"{path} is not writable"
    if path.exists() and not path.is_file():
        return ""
    parent = next(parent for parent in path.parents if parent.exists())
    if not parent.is_dir():
        return f"{parent} is not a folder"
    return "" if os.access(parent, os.W_OK | os.X_OK) else f"the folder {parent} is not writable"


def _status(path: Path) -> os.stat_result | None:
    """The status of a file, None if there is none; a `PermissionError` if it is protected from writing."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return status


def _write(path: Path, data: bytes, *, mode: int, old: os.stat_result | None) -> None:
    """Write a new file, with the owner and the mode of an old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = mode if old is None else stat.S_IMODE(old.st_mode)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
        stream.write(data)
        stream.flush()
        # Some file systems find out only now that there is no room.
        os.fsync(stream.fileno())
    if old is not None:
        # Some file systems have no owners and no modes.
        with suppress(OSError, AttributeError):
            os.chown(path, old.st_uid, old.st_gid)
        with suppress(OSError):
            path.chmod(mode)


def _replace(half: Path, target: Path) -> None:
    try:
        half.replace(target)
    except OSError as error:
        # A container may have been given this single file: it can be written, but not replaced.
        if error.errno != errno.EBUSY:
            raise
        target.write_bytes(half.read_bytes())
