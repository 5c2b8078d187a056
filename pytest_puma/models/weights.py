"""The files of a model: their state, their digest, and the open files while llama.cpp computes with them.

Gigabytes take seconds to read, so the user's cache has the digest, and the build of llama.cpp that a first use of the
files did not crash, while the files stay the same:

{"/home/me/models/q.gguf": {"stamps": [[2104932768, 1760000000000000000, 5243114, 1760000000400000000]],
                            "sha256": "5a3f...", "tried": "0.3.36 db51d59d"}}
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pytest_puma.core import Model, ModelError, Stamp, Stamps
from pytest_puma.models.search import part_paths, user_cache
from pytest_puma.platform.files import write_whole

#: The digest of the weights; the build of llama.cpp that a first use of the files did not crash.
Fact: TypeAlias = Literal["sha256", "tried"]

_BLOCK = 1 << 20
_ADVICE = "leave it alone until the run ends, and run again"


def stamps_of(path: Path) -> Stamps:
    """Return the stamp of each part; a `ModelError` if there is none."""
    try:
        return tuple(Stamp.of(part.stat()) for part in part_paths(path))
    except OSError as error:
        raise _unreadable(path, error) from error


def weights_digest(path: Path) -> str:
    """Return the SHA-256, in hexadecimal, of the file's bytes; of a split model, of all its parts in order.

    A `ModelError` if the weights cannot be read.
    """
    parts = part_paths(path.absolute())
    stamps = stamps_of(parts[0])
    if digest := recall(parts[0], stamps, "sha256"):
        return digest
    try:
        digest = _sha256(parts)
    except OSError as error:
        raise _unreadable(path, error) from error
    remember(parts[0], stamps, "sha256", digest)
    return digest


def known_digest(path: Path) -> str:
    """Return the digest if it is in the cache, as that of a model that has run here; else nothing."""
    first = part_paths(path.absolute())[0]
    return recall(first, stamps_of(first), "sha256") or ""


def recall(path: Path, stamps: Stamps, fact: Fact) -> str | None:
    """Return a fact about the model at an absolute path; None if it is unknown, or if the files have other stamps."""
    value = _facts(_entries(), path, stamps).get(fact)
    return value if isinstance(value, str) else None


def remember(path: Path, stamps: Stamps, fact: Fact, value: str) -> None:
    """Store a fact, and remove those about files that no longer exist.

    Several processes may share the cache: each replaces it as a whole, so at worst one loses a fact of another. A cache
    that cannot be read or written only costs time.
    """
    entries = {name: facts for name, facts in _entries().items() if Path(name).exists()}
    entry = {**_facts(entries, path, stamps), "stamps": stamps, fact: value}
    with suppress(OSError):  # a read-only home is no reason to fail
        write_whole(_cache(), json.dumps(entries | {str(path): entry}, indent=1))


class OpenedFiles:
    """Opens the files; a `ModelError` if one is missing, or if they changed since the model was checked.

    llama.cpp maps the files into memory. One that is deleted or replaced stays as it was until it is closed. One that
    is written to changes under llama.cpp; one that is shortened ends the process, at the first read beyond its end
    (SIGBUS). `stamps` is their state.
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


def _unreadable(path: Path, error: OSError) -> ModelError:
    return ModelError(f"{path}: the weights cannot be read: {error}")


def _sha256(parts: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as file:
            for block in iter(partial(file.read, _BLOCK), b""):
                digest.update(block)
    return digest.hexdigest()


def _cache() -> Path:
    return user_cache() / "digests.json"


def _entries() -> dict[str, Any]:
    """Entries of the cache; none if it is missing or damaged."""
    try:
        entries = json.loads(_cache().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _facts(entries: dict[str, Any], path: Path, stamps: Stamps) -> dict[str, Any]:
    """The facts about a model, none if they are those of other files."""
    match entries.get(str(path)):
        case {"stamps": stored, **facts} if stored == [list(stamp) for stamp in stamps]:
            return {str(fact): value for fact, value in facts.items()}
    return {}


def _open(path: Path, opened: ExitStack) -> int:
    """The descriptor of a file, which `opened` closes."""
    file = os.open(path, os.O_RDONLY)
    opened.callback(os.close, file)
    return file


def _shown(stamp: Stamp, compared: Stamp) -> str:
    """The size and the time of a file; of two files that are equal in both, also its inode."""
    date = datetime.fromtimestamp(stamp.modified / 1e9, tz=timezone.utc)
    inode = f" (inode {stamp.inode})" if stamp.content[:2] == compared.content[:2] else ""
    return f"{stamp.size:,} bytes of {date.isoformat(sep=' ', timespec='milliseconds')}{inode}"
