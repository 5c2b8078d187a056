"""Metrics that compare a list or a grid with the reference place by place.

A list is JSON, a grid is text with space between its cells:

    [3, 1, 2]        0 1 L
                     0 V 1

context = {"grid": "0 V L 0 V 1"}

`grid` is the grid of the question, whose unknown cells the reply fills in: `grid.gain` is 1 minus the wrong cells of
the reply divided by the wrong cells of this grid, below 0 for a reply that is worse than the question.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import eq
from typing import Any

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import argument, best, completion_metric
from pytest_puma.replies.fences import unfenced


def list_places(sample: Sample, prediction: Prediction) -> float | None:
    """Return the share of places at which two lists are equal; 0 if one is longer, or the reply is no list.

    Raises a `SettingsError` for a reference that is no list.
    """
    found = _list(prediction.text)
    golds = [(reference, _list(reference)) for reference in sample.references]
    for reference, gold in golds:
        if gold is None:
            msg = (
                f"list.places: {reference!r} of sample {sample.id!r} is no list; expected a ground truth such as "
                "'[3, 1, 2]'; return it from the scenario's truth(item)"
            )
            raise SettingsError(msg)
    return max((_equal_places(found, gold) for _, gold in golds if gold is not None), default=None)


def grid_exact(text: str, reference: str) -> float:
    """Return 1 if all cells are equal, else 0."""
    return float(text.split() == reference.split())


def grid_cells(text: str, reference: str) -> float:
    """Return the share of equal cells, among the cells of the larger grid."""
    found, gold = text.split(), reference.split()
    return 1.0 - _different(found, gold) / max(len(found), len(gold), 1)


def grid_gain(sample: Sample, prediction: Prediction) -> float | None:
    """Return how many of the wrong cells of the question's grid the reply corrects, as a share; 1 is all of them."""
    grid: str = argument(sample, "grid", str, metric="grid.gain", expected="the grid of the question, as a text")
    gains = [
        1.0 - _different(prediction.text.split(), gold) / max(_different(grid.split(), gold), 1)
        for gold in map(str.split, sample.references)
    ]
    return max(gains, default=None)


def clipped_grid_gain(sample: Sample, prediction: Prediction) -> float | None:
    """Return the same, but 0 for a reply that is worse than the question."""
    gain = grid_gain(sample, prediction)
    return None if gain is None else max(0.0, gain)


def _list(text: str) -> list[Any] | None:
    """The list that a text is, in the quotes of JSON or of Python; None if it is none."""
    bare = unfenced(text)
    for spelling in (bare, bare.replace("'", '"')):
        try:
            value = json.loads(spelling)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, list) else None
    return None


def _equal_places(found: Sequence[Any] | None, gold: Sequence[Any]) -> float:
    if found is None or len(found) != len(gold):
        return 0.0
    return sum(map(eq, found, gold)) / len(gold) if gold else 1.0


def _different(found: Sequence[str], gold: Sequence[str]) -> int:
    """The number of cells that differ; one that only one grid has differs."""
    return sum(map(str.__ne__, found, gold)) + abs(len(found) - len(gold))


METRICS = (
    completion_metric(name="list.places", score=list_places),
    completion_metric(name="grid.exact", score=best(grid_exact)),
    completion_metric(name="grid.cells", score=best(grid_cells)),
    completion_metric(name="grid.gain", score=grid_gain, bounds=None),
    completion_metric(name="grid.gain.clipped", score=clipped_grid_gain),
)
