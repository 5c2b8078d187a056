"""Run-specs that a folder holds under another name than `*.puma.yaml`: they are not collected, which must show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: The two keys that every run-spec has.
_KEYS = (re.compile(rb"^(- |  )?scenario:", re.MULTILINE), re.compile(rb"^(- |  )?adaptation:", re.MULTILINE))
#: Bytes that are read of a file which is probably none of ours.
_BEGINNING = 4096


def warn_of_spec(path: Path, parent: pytest.Collector) -> None:
    """Warn where a YAML file that nobody named looks like a run-spec; PUMA's own are called `smoke.yaml`."""
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except OSError:
        return  # nobody asked for this file
    if all(key.search(beginning) for key in _KEYS):
        name = f"{path.stem}.puma{path.suffix}"
        sentence = (
            f"puma: {path.name} looks like a run-spec, but in a folder only *.puma.yaml files are collected; "
            f"rename it to {name}, or name the file on the command line"
        )
        parent.warn(pytest.PytestCollectionWarning(sentence))
