"""Warnings for run-specs in a folder that are not collected because their names do not end in `.puma.yaml`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: The two keys that every run-spec has.
_KEYS = (re.compile(rb"^(- |  )?scenario:", re.MULTILINE), re.compile(rb"^(- |  )?adaptation:", re.MULTILINE))
#: Bytes to read of a file that is probably no run-spec.
_BEGINNING = 4096


def warn_of_spec(path: Path, parent: pytest.Collector) -> None:
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
