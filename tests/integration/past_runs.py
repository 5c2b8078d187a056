"""The folder of a past run, and the parts of it that the same run again must repeat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from pytest_puma.metrics import source_of
from tests.integration.conftest import Project


def earlier(project: Project) -> Path:
    """The folder of the run so far, moved out of the way of the next run."""
    target = project.pytester.path / "earlier" / project.folder.name
    shutil.move(project.folder, target)
    shutil.rmtree(project.pytester.path / ".puma")
    return target


def lines_of(folder: Path) -> list[str]:
    """`predictions.jsonl` without the order in which workers finished."""
    return sorted((folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines())


def measures_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The measures of each cell, without those that are timed."""
    outcomes = json.loads((folder / "run.json").read_text(encoding="utf-8"))["outcomes"]
    return {
        each["cell"]: {name: measure for name, measure in each["measures"].items() if source_of(name) != "clock"}
        for each in outcomes
    }
