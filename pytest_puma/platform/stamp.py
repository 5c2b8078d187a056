"""The state of a file, to notice that it is no longer the same one."""

from __future__ import annotations

import os
from typing import NamedTuple, TypeAlias


class Stamp(NamedTuple):
    """Size in bytes, modification time in nanoseconds, inode, and the time at which the inode last changed.

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
