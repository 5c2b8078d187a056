"""Why a cell has no baseline: there is none yet, or its file or its model has another name."""

from __future__ import annotations

from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import CellId

_MAKE = "--puma-update-baseline makes one"


def why_missing(baselines: Baselines, cell: CellId) -> str:
    """Return why a cell has no baseline, and what to do; errors as those of `Baselines`."""
    expected, names = f"{cell.scenario}.json", baselines.names()
    renamed = next((name for name in names if name.casefold() == expected.casefold()), expected)
    if expected not in names and renamed != expected:
        return f"{baselines.folder} has {renamed}; expected {expected}: rename it and the file of answers beside it"
    others = [CellId.parse(entry.cell) for entry in baselines.of(cell.scenario)]
    models = sorted(other.model for other in others if other.without("model") == cell.without("model"))
    if models:
        there = f"there is no baseline for {cell.model!r}; there are baselines for {', '.join(models)}"
        return f"{there}: give the model this name, or {_MAKE}"
    return f"there is no baseline yet; {_MAKE}"
