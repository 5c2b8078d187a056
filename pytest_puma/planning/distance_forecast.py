"""Forecast of the passes that measure how far variants are from their plain model (`evaluation.divergence`).

They are those of the run, with a model that computes nothing. A reply that is not kept is unknown: a text of one token
stands for it, and it is taken to have the length that the forecast of the plain cell has for replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import CellId, Key, Score
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.divergence import measures_distance, requests_of, responses_to
from pytest_puma.evaluation.predict import CellPredictions, predict
from pytest_puma.planning.judge_forecast import keeping, readable

_UNKNOWN = " "


@dataclass(frozen=True, slots=True)
class _Replies:
    """The replies of a plain cell: its answers, the requests to score them, and the mean length of unknown ones."""

    answered: CellPredictions
    requests: Mapping[Key, Score]
    tokens: float


class DistancePlanner:
    """Forecasts the passes of cells, those of a plain model before those of its variants. `store`: None for none."""

    def __init__(self, cells: Sequence[Cell], *, project: Path | None, store: Path | None) -> None:
        self._plain = {cell.name.without("variant") for cell in cells if measures_distance(cell)}
        self._project, self._store = project, store
        self._replies: dict[CellId, _Replies] = {}

    def tokens(self, cell: Cell, backend: DryBackend, *, reply_tokens: float) -> int:
        """Return the tokens that the model of a cell reads in its pass, 0 without one.

        `reply_tokens`: those of a reply that is not kept.
        """
        name = cell.name.without("variant")
        if name not in self._plain or not (name == cell.name or (measures_distance(cell) and name in self._replies)):
            return 0
        engine = Engine(backend)
        with readable(self._store) as store:
            if name == cell.name:
                answered = predict(cell, keeping(Engine(backend), cell.model, store), project=self._project)
                requests = requests_of(cell, answered, unknown=_UNKNOWN)
                self._replies[name] = _Replies(answered, requests, reply_tokens)
            replies = self._replies[name]
            responses_to(cell, replies.answered, keeping(engine, cell.model, store), replies.requests)
        unknown = sum(request.continuations == (_UNKNOWN,) for request in replies.requests.values())
        return round(engine.speed.prefill_tokens + engine.speed.decode_tokens + unknown * max(0, replies.tokens - 1))
