"""A file that was cut to fit into packages, put together once in the user's cache.

It lies under its own digest, `joined/a5fd3b62230aa5ec/model.gguf`: another version of a package is another file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from secrets import token_hex

from pytest_puma.core import ModelError
from pytest_puma.core.atomic import locked
from pytest_puma.models.digest import weights_digest
from pytest_puma.models.search import user_cache

_BLOCK = 1 << 20


def join_pieces(name: str, pieces: Sequence[Path], sha256: str) -> Path:
    """The path of the whole file, made of the pieces in this order unless the cache has it.

    Several processes may ask at once: one writes, the others wait. A `ModelError` tells that the bytes are others
    than the digest says, or why the cache cannot be written.
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
    """Write beside the file first: whoever reads without the lock never sees half of it."""
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
                f"the {len(pieces)} pieces of {path.name} ({', '.join(each.name for each in pieces)}) make a file of "
                f"SHA-256 {digest.hexdigest()}, expected {sha256}: install the packages of all pieces again"
            )
            raise ModelError(msg)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
