"""The answers of the model to a cell, before a judge looks at them.

Where the model and a judge do not fit into the memory together, the first judged cell lets the model answer all further
cells, too, and frees it: then the judge is loaded, once for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import psutil
import pytest

from pytest_puma.core import Model, NotRunError, Responder
from pytest_puma.core.power import BESIDE
from pytest_puma.evaluation.assess import Context
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.divergence import measures_distance
from pytest_puma.evaluation.evaluate import stopping_of
from pytest_puma.evaluation.predict import CellPredictions, keep, predict
from pytest_puma.planning.shards import UNJUDGED
from pytest_puma.session.items.collected import PART, cell_of
from pytest_puma.session.items.distances import is_reference, with_distances
from pytest_puma.session.items.responders import unopened_judges
from pytest_puma.session.progress.meter import progress_of
from pytest_puma.session.settings.config import settings_of

#: The answers, or the error, of cells whose items come later.
_AHEAD: pytest.StashKey[dict[str, CellPredictions | Exception]] = pytest.StashKey()


def predicted(item: pytest.Item, cell: Cell, engine: Responder, context: Callable[[Cell], Context]) -> CellPredictions:
    """Return the answers of the model to a cell; `context`: from a cell to what it is compared with."""
    ahead = item.config.stash.setdefault(_AHEAD, {})
    if cell.id in ahead:
        answered = ahead.pop(cell.id)
        if isinstance(answered, Exception):
            raise answered
        return answered
    answered = _predict(item, cell, engine, context)
    judges = unopened_judges(item.config, cell)
    if judges and not _fit(judges):
        following = item.session.items[item.session.items.index(item) + 1 :]
        for later in following:
            further = cell_of(later)
            if further is not None and further.model.loaded == cell.model.loaded:
                try:
                    ahead[further.id] = _predict(later, further, engine, context)
                except Exception as error:  # noqa: BLE001 - of the cell, whose item raises it
                    ahead[further.id] = error
        engine.close()
    return answered


def _fit(judges: list[Model]) -> bool:
    """Whether the memory that is free holds these judges."""
    free: int = psutil.virtual_memory().available
    return sum(judge.size + BESIDE for judge in judges) <= free


def _predict(item: pytest.Item, cell: Cell, engine: Responder, context: Callable[[Cell], Context]) -> CellPredictions:
    settings = settings_of(item.config)
    cells = [test for test in item.session.items if cell_of(test) is not None]
    progress = partial(progress_of, item.config, finished=cells.index(item), cells=len(cells))
    if PART in item.stash:
        kept = keep(cell, engine, item.stash[PART], project=settings.project, progress=progress(cell.id, engine))
        msg = f"{cell.id}: computed {kept:,} of its conversations for the store, the part of this shard; {UNJUDGED}"
        raise NotRunError(msg)
    whole = is_reference(item, cell) or measures_distance(cell)
    answered = predict(
        cell,
        engine,
        project=settings.project,
        progress=progress(cell.id, engine),
        # Answers that are read cannot be computed again.
        determinism=settings.request.determinism if cell.model.computes else 0,
        only=None if settings.request.only is None else settings.request.only.get(cell.id),
        stopping=stopping_of(cell, context(cell)) if settings.judging.stop_early and not whole else None,
    )
    return with_distances(item, cell, answered, engine, progress(f"{cell.id}, its distance:", engine))
