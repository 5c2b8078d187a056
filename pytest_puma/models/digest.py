"""The SHA-256 of a model's weights. Gigabytes take seconds to read, so the digest is stored in the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.models.known import recall, remember
from pytest_puma.models.parts import part_paths, stamps_of

_BLOCK = 1 << 20


def weights_digest(path: Path, *, cache: Path | None = None) -> str:
    """Return the SHA-256, in hexadecimal, of the file's bytes; of a split model, of all its parts in order.

    `cache` is the JSON file that stores the digests, by default one in the user's cache. A `ModelError` if the weights
    cannot be read.
    """
    parts = part_paths(path.absolute())
    stamps = stamps_of(parts[0])
    if digest := recall(parts[0], stamps, "sha256", cache=cache):
        return digest
    try:
        digest = _sha256(parts)
    except OSError as error:
        msg = f"{path}: the weights cannot be read: {error}"
        raise ModelError(msg) from error
    remember(parts[0], stamps, "sha256", digest, cache=cache)
    return digest


def known_digest(path: Path, *, cache: Path | None = None) -> str:
    """Return the digest if it is in the cache, as that of a model that has run here; else nothing."""
    first = part_paths(path.absolute())[0]
    return recall(first, stamps_of(first), "sha256", cache=cache) or ""


def _sha256(parts: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as file:
            for block in iter(partial(file.read, _BLOCK), b""):
                digest.update(block)
    return digest.hexdigest()
