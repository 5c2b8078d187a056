"""Facts about a model's files that take seconds to find out, kept in the user's cache while the files stay the same.

{"/home/me/models/q.gguf": {"stamps": [[2104932768, 1760000000000000000, 5243114, 1760000000400000000]],
                            "sha256": "5a3f...", "tried": "0.3.36 db51d59d"}}
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pytest_puma.core import Stamps
from pytest_puma.models.search import user_cache
from pytest_puma.platform.atomic import write_whole

#: The digest of the weights; the build of llama.cpp that a first use of the files did not crash.
Fact: TypeAlias = Literal["sha256", "tried"]


def recall(path: Path, stamps: Stamps, fact: Fact, *, cache: Path | None = None) -> str | None:
    """Return a fact about the model at an absolute path; None if it is unknown, or if the files have other stamps."""
    return _facts(_load(_file(cache)), path, stamps).get(fact)


def remember(path: Path, stamps: Stamps, fact: Fact, value: str, *, cache: Path | None = None) -> None:
    """Store a fact, and remove those about files that no longer exist.

    `cache` is the JSON file, by default one in the user's cache. Several processes may share it: each replaces it as a
    whole, so at worst one loses a fact of another. A cache that cannot be read or written only costs time.
    """
    file = _file(cache)
    with contextlib.suppress(OSError, ValueError):  # a read-only home is no reason to fail
        entries = {name: facts for name, facts in _load(file).items() if Path(name).exists()}
        entry: dict[str, Any] = {"stamps": stamps, **_facts(entries, path, stamps), fact: value}
        write_whole(file, json.dumps(entries | {str(path): entry}, indent=1))


def _file(cache: Path | None) -> Path:
    return cache or user_cache() / "digests.json"


def _facts(entries: dict[str, Any], path: Path, stamps: Stamps) -> dict[str, str]:
    """The facts about a model, none if they are those of other files."""
    match entries.get(str(path)):
        case {"stamps": stored, **facts} if stored == [list(stamp) for stamp in stamps]:
            return {str(fact): value for fact, value in facts.items() if isinstance(value, str)}
    return {}


def _load(cache: Path) -> dict[str, Any]:
    """Entries of the cache; none if it is missing or damaged."""
    try:
        entries = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}
