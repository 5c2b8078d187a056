"""A model split into several files: `q-00001-of-00003.gguf` and its siblings. llama.cpp loads the first of them."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_puma.core import ModelError, Stamp, Stamps

_SUFFIX = re.compile(r"(-\d{5}-of-(?P<count>\d{5}))?\.gguf$", re.IGNORECASE)


def without_suffix(name: str) -> str:
    """Return the file name without `.gguf` and without the number of the part."""
    return _SUFFIX.sub("", name)


def part_names(name: str) -> tuple[str, ...]:
    """Return the names of all parts of this file's model, in order; the name itself if the model is not split."""
    suffix = _SUFFIX.search(name)
    count = int(suffix["count"] or 0) if suffix else 0
    if not count:
        return (name,)
    stem, ending = without_suffix(name), name[-len(".gguf") :]
    return tuple(f"{stem}-{part:05}-of-{count:05}{ending}" for part in range(1, count + 1))


def part_paths(path: Path) -> tuple[Path, ...]:
    """Return the paths of all parts, beside this one."""
    return tuple(path.with_name(name) for name in part_names(path.name))


def stamps_of(path: Path) -> Stamps:
    """Return the stamp of each part; a `ModelError` if there is none."""
    try:
        return tuple(Stamp.of(part.stat()) for part in part_paths(path))
    except OSError as error:
        msg = f"{path}: the weights cannot be read: {error}"
        raise ModelError(msg) from error
