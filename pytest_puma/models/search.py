"""Search for a file of weights.

A model may be split into several files, `q-00001-of-00003.gguf` and its siblings; llama.cpp loads the first of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.phrases import counted, named
from pytest_puma.platform.bundled import bundled_folder

_SHOWN = 10
#: Files by which a folder of another format is known, each with the program that makes a GGUF file of the folder.
_SOURCES = {
    "adapter_config.json": "llama.cpp's convert_lora_to_gguf.py",
    "config.json": "llama.cpp's convert_hf_to_gguf.py",
}
_SUFFIX = re.compile(r"(-\d{5}-of-(?P<count>\d{5}))?\.gguf$", re.IGNORECASE)


def default_directories(root: Path = Path()) -> tuple[Path, ...]:
    """Return `root`, its folder `models`, and the models folder of the user's cache."""
    return root, root / "models", user_cache() / "models"


def user_cache() -> Path:
    """Return the folder for files that can be created again; it may not exist."""
    import platformdirs

    return platformdirs.user_cache_path("pytest-puma")


def find_file(place: str, directories: Sequence[Path]) -> Path:
    """Return the file that a path, or a name with or without `.gguf`, means.

    A relative one is searched in the current directory, then in each of `directories`. A split model may be named
    without the number of the part. A `ModelError` lists the existing GGUF files.
    """
    path = expanded(place)
    folders = (path.parent,) if path.is_absolute() else _different(Path(), *directories)
    file = next(filter(is_file, (file for folder in folders for file in _candidates(folder / path))), None)
    if file is not None:
        return file
    inside = next((folder / path for folder in folders if _is_folder(folder / path)), None)
    if inside is not None:
        listing, advice = _listing([inside])
        source = next((name for name in _SOURCES if is_file(inside / name)), None)
        if source is not None and not gguf_names(inside):
            advice = f"it has {source}, so convert it with {_SOURCES[source]}"
        msg = f"{inside} is a directory{listing}; expected a GGUF file: {advice}"
        raise ModelError(msg)
    listing, advice = _listing(folders)
    msg = f"no such file in {', '.join(map(_shown, folders))}{listing}; {advice}"
    raise ModelError(msg)


def expanded(place: str) -> Path:
    """Return the path with the user's home for `~`, which the shell does not expand after an alias."""
    return Path(os.path.expanduser(place))  # noqa: PTH111  (Path's own raises for a user that does not exist)


def is_file(path: Path) -> bool:
    """Whether the path is a regular file. A path that cannot be checked (name too long, locked folder) is not."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's own raises for such a path


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above


def _candidates(path: Path) -> Iterator[Path]:
    yield path
    yield Path(f"{path}.gguf")
    if _is_folder(path.parent):
        yield from sorted(path.parent.glob(f"{escape(path.name)}-00001-of-*.gguf"))


def _different(*folders: Path) -> tuple[Path, ...]:
    different: dict[Path, Path] = {}
    for folder in folders:
        different.setdefault(folder.absolute(), folder)
    return tuple(different.values())


def _listing(folders: Sequence[Path]) -> tuple[str, str]:
    """The GGUF files, as in ` (2 GGUF files there: a.gguf, b.gguf)`, and what to do."""
    names = list(dict.fromkeys(name for folder in folders for name in gguf_names(folder)))
    if not names:
        return " (no GGUF files there)", "give the path of one"
    advice = "give a path or this name" if len(names) == 1 else "give a path or one of these names"
    return f" ({counted(len(names), 'GGUF file')} there: {named(names, _SHOWN)})", advice


def gguf_names(folder: Path) -> list[str]:
    """Return the GGUF files of a folder by name, one for each split model; none if there is no such folder."""
    try:
        names = sorted(file.name for file in folder.iterdir() if file.suffix.lower() == ".gguf")
    except (OSError, ValueError):  # most search directories do not exist, and one with a NUL cannot
        return []
    return [name for name in names if name == part_names(name)[0]]


def _shown(folder: Path) -> str:
    """The folder, relative to the current directory if it is inside it."""
    if folder == bundled_folder("models"):
        return "the package"
    whole = folder.absolute()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(folder)


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
