"""The distance of a variant from its plain model, measured after the answers of its cell (`evaluation.divergence`).

The cell of the plain model runs first, in the same process: its replies are kept here until its variants ask for them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core import CellId, DataError, Responder
from pytest_puma.core.prediction import changed
from pytest_puma.core.variant import adding_plain
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import Progress
from pytest_puma.evaluation.divergence import (
    ScoredReplies,
    measures_distance,
    scored_replies,
    with_divergence,
    without_divergence,
)
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.session.items.collected import cell_of
from pytest_puma.session.settings.config import settings_of

#: By plain cell: its replies, or why there are none.
_PLAIN: pytest.StashKey[dict[CellId, ScoredReplies | str]] = pytest.StashKey()


def is_reference(item: pytest.Item, cell: Cell) -> bool:
    """Whether the distance of a variant from this plain cell is measured in this run."""
    cells = filter(None, map(cell_of, item.session.items))
    return cell.name.variant is None and any(
        other.name != cell.name == other.name.without("variant") and measures_distance(other) for other in cells
    )


def with_distances(
    item: pytest.Item, cell: Cell, answered: CellPredictions, engine: Responder, progress: Progress | None
) -> CellPredictions:
    """Return the answers of a variant with their distance from the plain model, if the cell has metrics of that."""
    rescored, replies = settings_of(item.config).request.rescored, item.config.stash.setdefault(_PLAIN, {})
    if not measures_distance(cell):
        if rescored is None and is_reference(item, cell):
            try:
                replies[cell.name] = scored_replies(cell, answered, engine, progress)
            except DataError as error:
                replies[cell.name] = str(error)
        return answered
    if rescored is not None:
        return _recorded(cell, answered, rescored)
    name = cell.name.plain
    plain = replies.get(
        cell.name.without("variant"), f"{name} did not run before it: {adding_plain(cell.name.variant or '')}"
    )
    try:
        return (
            without_divergence(answered, plain)
            if isinstance(plain, str)
            else with_divergence(cell, answered, plain, engine, progress)
        )
    except DataError as error:
        return without_divergence(answered, str(error))


def _recorded(cell: Cell, answered: CellPredictions, run: RecordedRun) -> CellPredictions:
    """Return the answers of a run with the distances that it measured."""
    divergences = run.divergences(run.cells[cell.id])
    if not any(divergences.values()):
        return without_divergence(answered, f"the run {run.name} did not measure it")
    found = (changed(it, divergence=divergences.get(it.key, ())) for it in answered.predictions)
    return replace(answered, predictions=tuple(found))
