"""Run-spec files as test modules, and a warning for those that a folder has under another name than `*.puma.yaml`."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.errors import PumaError
from pytest_puma.session.settings.config import settings_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_puma.core import Outcome
    from pytest_puma.planning.settings import BenchmarkSpec

#: `tavern` in `test_api.tavern.yaml`, but nothing in `triage-v1.2.yaml`.
_KIND = re.compile(r"\.([A-Za-z]\w*)\.ya?ml$")
#: The two keys that every run-spec has.
_KEYS = (re.compile(rb"^(- |  )?scenario:", re.MULTILINE), re.compile(rb"^(- |  )?adaptation:", re.MULTILINE))
#: Bytes to read of a file that is probably no run-spec.
_BEGINNING = 4096


def spec_file(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for `*.puma.yaml`, and for a YAML file on the command line unless another plugin owns it."""
    kind = _KIND.search(path.name)
    if ".puma." not in path.name and not parent.session.isinitpath(path):
        _warn_of_spec(path, parent)
        return None
    return SpecFile.from_parent(parent, path=path) if kind is None or kind[1] == "puma" else None


def _warn_of_spec(path: Path, parent: pytest.Collector) -> None:
    """Warn of a YAML file that looks like a run-spec, as PUMA's own `smoke.yaml` does, if its folder is collected.

    pytest also offers the siblings of each file that the command line names.
    """
    if not any(map(parent.session.isinitpath, path.parents)):
        return
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except OSError:
        return  # the user did not ask for this file
    if all(key.search(beginning) for key in _KEYS):
        name = f"{path.stem}.puma{path.suffix}"
        sentence = (
            f"puma: {path.name} looks like a run-spec, but in a folder only *.puma.yaml files are collected; "
            f"rename it to {name}, or name the file on the command line"
        )
        parent.warn(pytest.PytestCollectionWarning(sentence))


class SpecFile(pytest.Module):
    """A run-spec file as a test module, with a function for each spec. Only its gates can fail it."""

    def funcnamefilter(self, name: str) -> bool:
        """Ignore `python_functions`, which is about the tests of the project."""
        return name.startswith("test_")

    def _getobj(self) -> types.ModuleType:
        from pytest_puma.planning.runspec import read_specs
        from pytest_puma.report import escape

        module = types.ModuleType(self.path.name.partition(".")[0])
        try:
            for name, spec in read_specs(self.path, settings_of(self.config)).items():
                setattr(module, f"test_{name}", _spec_function(spec))
        except PumaError as error:
            msg = escape.terminal_lines(f"puma: {error}")
            raise self.CollectError(msg) from error
        return module


def _spec_function(benchmark: BenchmarkSpec) -> Callable[[Outcome], None]:
    @pytest.mark.puma(benchmark)
    def spec(puma: Outcome) -> None:
        """Judged by its gates."""

    spec.__doc__ = benchmark.description or spec.__doc__
    return spec
