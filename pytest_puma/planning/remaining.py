"""The part of a cell that a run would compute: the store has the rest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from pytest_puma.core import Origin
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.planning.storage import Storage
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingEngine
from pytest_puma.strategies import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """`kept`: the number of answers that the store has; `tokens`: the prompt and scored tokens of the others.

    `share`: that of the answers to compute.
    """

    kept: int
    tokens: int
    share: float


class KeptAnswers:
    """The answers that a run with these settings would take from the store, which is only read."""

    def __init__(self, settings: Storage) -> None:
        self._path, self._mode = settings.path, settings.mode

    @property
    def exist(self) -> bool:
        """Whether there may be any."""
        return self._mode == "mix" and self._path.is_file()

    def remaining(self, cell: Cell, tasks: Sequence[Task], backend: DryBackend) -> Remaining | None:
        """Hold the conversations with the kept answers, and with empty ones in place of the others.

        None if no answer is kept. A strategy that reads an empty answer may ask less than it will.
        """
        if not self.exist or not backend.signature:
            return None
        engine = Engine(backend)
        with closing(ResponseStore(self._path, readonly=True)) as store:
            keeping = KeepingEngine(engine, store, cell.model, mode="mix")
            # The parts of the signature are for messages.
            keeping.begin(cell.id, {})
            origins = [Origin(cell.id, task.sample, task.trial) for task in tasks]
            run_conversations([cell.strategy.converse(task) for task in tasks], keeping, origins=origins)
            kept = keeping.provenance().kept
        if kept is None:
            return None
        tokens = engine.speed.prefill_tokens + engine.speed.decode_tokens
        return Remaining(kept=kept.kept, tokens=tokens, share=1 - kept.kept / kept.responses)
