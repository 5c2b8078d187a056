"""Files that must be files: a pipe would be read for ever, and a link of a downloaded folder leads anywhere."""

from __future__ import annotations

import errno
import stat
from contextlib import suppress
from pathlib import Path


def regular(path: Path, *, links: bool = True) -> Path:
    """Return the path itself; an `OSError` if there is a pipe or a device, or, without `links`, a link.

    A missing file and a folder are no fault here: the system reports them when they are opened.
    """
    with suppress(FileNotFoundError):
        mode = path.stat(follow_symlinks=links).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            link = stat.S_ISLNK(mode)
            fault = "a link in place of a file; remove it" if link else "a pipe or a device in place of a file"
            raise OSError(errno.EINVAL, fault, str(path))
    return path
