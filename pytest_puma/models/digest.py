"""The SHA-256 of a model's weights. Gigabytes take seconds to read, so the digest is stored in the user's cache.

    {"/home/me/models/q.gguf": {"stamps": [[2104932768, 1760000000000000000]], "sha256": "5a3f..."}}

A stamp is the size and the modification time (`mtime_ns`) of a file; a split model has one for each part.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_puma.core import ModelError
from pytest_puma.models.parts import part_paths
from pytest_puma.models.search import user_cache

_BLOCK = 1 << 20


def weights_digest(path: Path, *, cache: Path | None = None) -> str:
    """Return the SHA-256, in hexadecimal, of the file's bytes; of a split model, of all its parts in order.

    `cache` is the JSON file that stores the digests, by default one in the user's cache. Several processes may share
    it: each replaces it as a whole, so at worst one loses an entry of another. A cache that cannot be read or written
    only costs time. A `ModelError` if the weights cannot be read.
    """
    cache = cache or user_cache() / "digests.json"
    parts = part_paths(path.absolute())
    try:
        stamps = [[status.st_size, status.st_mtime_ns] for status in map(Path.stat, parts)]
        match _load(cache).get(str(parts[0])):
            case {"stamps": stored, "sha256": str(digest)} if stored == stamps:
                return digest
        digest = _sha256(parts)
    except OSError as error:
        msg = f"{path}: the weights cannot be read: {error}"
        raise ModelError(msg) from error
    _store(cache, str(parts[0]), {"stamps": stamps, "sha256": digest})
    return digest


def _sha256(parts: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        with part.open("rb") as file:
            for block in iter(partial(file.read, _BLOCK), b""):
                digest.update(block)
    return digest.hexdigest()


def _load(cache: Path) -> dict[str, Any]:
    """Entries of the cache; none if it is missing or damaged."""
    try:
        entries = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _store(cache: Path, path: str, entry: dict[str, Any]) -> None:
    """Add an entry, and remove those of files that no longer exist."""
    with contextlib.suppress(OSError, ValueError):  # a read-only home is no reason to fail
        entries = {name: value for name, value in _load(cache).items() if Path(name).exists()}
        cache.parent.mkdir(parents=True, exist_ok=True)
        _replace(cache, json.dumps(entries | {path: entry}, indent=1))


def _replace(cache: Path, text: str) -> None:
    """Write to a temporary file first: a reader sees the old cache or the new one, never half of it."""
    fresh = cache.with_name(f"{cache.name}.{os.urandom(8).hex()}")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(cache)
    finally:
        fresh.unlink(missing_ok=True)
