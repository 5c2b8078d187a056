"""The files of a model, held open while llama.cpp computes with them.

llama.cpp maps the files into memory. One that is deleted or replaced stays as it was until it is closed. One that is
written to changes under llama.cpp; one that is shortened ends the process, at the first read beyond its end (SIGBUS).
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

from pytest_puma.core import Model, ModelError, Stamp, Stamps
from pytest_puma.models.parts import part_paths, stamps_of

_ADVICE = "leave it alone until the run ends, and run again"


class OpenedFiles:
    """Opens the files; a `ModelError` if one is missing, or if they changed since the model was checked.

    `stamps` is their state.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._paths = part_paths(model.path)
        with ExitStack() as opened:
            try:
                self._files = [_open(path, opened) for path in self._paths]
            except OSError as error:
                msg = (
                    f"{model.name}: {error.filename} cannot be opened: {error.strerror}; expected the file that was "
                    f"checked before: {_ADVICE}"
                )
                raise ModelError(msg) from error
            self.stamps = self._now()
            if model.stamps:
                self._compare(model.stamps, self.stamps, "since the model was checked")
            self._close = opened.pop_all().close

    def check_loaded(self) -> None:
        """Check, right after another reader opened the same paths, that it read these files."""
        self.check()
        self._compare(self.stamps, stamps_of(self._model.path), "while it was loaded")

    def check(self) -> None:
        """Check that nobody has written to the files; a `ModelError` if somebody has."""
        self._compare(self.stamps, self._now(), "while llama.cpp used it")

    def close(self) -> None:
        """Close the files. May be called twice."""
        self._close()

    def _now(self) -> Stamps:
        return tuple(Stamp.of(os.fstat(file)) for file in self._files)

    def _compare(self, expected: Stamps, found: Stamps, when: str) -> None:
        for path, before, after in zip(self._paths, expected, found, strict=True):
            if before.content != after.content:
                msg = (
                    f"{self._model.name}: {path} changed {when}: found {_shown(after, before)}, "
                    f"expected {_shown(before, after)}; {_ADVICE}"
                )
                raise ModelError(msg)


def _open(path: Path, opened: ExitStack) -> int:
    """The descriptor of a file, which `opened` closes."""
    file = os.open(path, os.O_RDONLY)
    opened.callback(os.close, file)
    return file


def _shown(stamp: Stamp, other: Stamp) -> str:
    """The size and the time of a file; of two files that are equal in both, also its inode."""
    date = datetime.fromtimestamp(stamp.modified / 1e9, tz=timezone.utc)
    inode = f" (inode {stamp.inode})" if stamp.content[:2] == other.content[:2] else ""
    return f"{stamp.size:,} bytes of {date.isoformat(sep=' ', timespec='milliseconds')}{inode}"
