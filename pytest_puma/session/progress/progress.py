"""The progress of a long cell: of this process on its terminal, of a worker in a file that the controller reads.

    puma: 2 of 12 cells done; triage_jira-egi@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left

Workers have no terminal. The response store cannot tell the controller how far they are: it has no row for an answer
that is kept or only read, none at all if it is off, and nobody knows how many rows a cell will have. So each worker
replaces a small file, and the controller reads these files (`worker_progress`).
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pytest

from pytest_puma.core import Responder, Speed
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import Progress
from pytest_puma.session.collected import cell_id
from pytest_puma.session.progress.cell_progress import INPUT, CellProgress, done
from pytest_puma.session.terminal import display


def progress_of(item: pytest.Item, cell: Cell, responder: Responder) -> Progress | None:
    """Return the progress callback for `predict`; None if nobody sees it."""
    file = getattr(item.config, "workerinput", {}).get(INPUT)
    if file is not None:
        return _Meter(cell, responder, _File(Path(file)))
    shown = display.display_of(item.config)
    if shown is None:
        return None
    cells = [each for each in item.session.items if cell_id(each) is not None]
    return _Meter(cell, responder, _Screen(shown, done(cells.index(item), len(cells))))


class _Screen:
    """Shows the progress of the cells of this process."""

    def __init__(self, shown: display.Display, beginning: str) -> None:
        self._shown, self._beginning = shown, beginning
        self.pace, self.patience = shown.pace, shown.patience

    def tell(self, progress: CellProgress) -> None:
        self._shown.show(f"{self._beginning}{progress}")

    def end(self) -> None:
        self._shown.clear()


class _File:
    """Writes the progress of a worker to its file, which lies on this machine or does not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pace, self.patience = display.LIVE, 0.0

    def tell(self, progress: CellProgress) -> None:
        with suppress(OSError):
            self._path.write_text(json.dumps(asdict(progress)), encoding="utf-8")

    def end(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


class _Meter:
    """Counts the samples of a cell, and notifies a listener now and then."""

    def __init__(self, cell: Cell, responder: Responder, listener: _Screen | _File) -> None:
        self._cell, self._responder, self._listener = cell.id, responder, listener
        self._started = time.monotonic()
        self._due = self._started + listener.patience
        self._speed = Speed()
        self._answered = self._read = 0

    def __call__(self, answered: int, samples: int) -> None:
        """Receive the numbers of answered and of all samples."""
        now, speed = time.monotonic(), self._responder.speed
        if speed == self._speed:
            # Nothing was computed, so that these answers tell nothing about the rate of the others.
            self._read += answered - self._answered
        self._speed, self._answered = speed, answered
        if answered == samples:
            self._listener.end()
        elif now >= self._due:
            self._due = now + self._listener.pace
            self._listener.tell(self._progress(samples, now - self._started))

    def _progress(self, samples: int, seconds: float) -> CellProgress:
        computed = self._answered - self._read
        busy = self._speed.prefill_seconds + self._speed.decode_seconds
        tokens = self._speed.prefill_tokens + self._speed.decode_tokens
        return CellProgress(
            cell=self._cell,
            answered=self._answered,
            samples=samples,
            kept=self._responder.kept,
            speed=tokens / busy if busy else 0.0,
            left=seconds * (samples - self._answered) / computed if computed else -1.0,
        )
