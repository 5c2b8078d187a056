"""The progress of a long cell, as a line.

    puma: 2 of 12 cells done; triage_jira-egi@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left

The line of a worker lacks the beginning, which only the process that receives all reports knows. The response store
cannot tell that process how far a worker is: it has no row for an answer that is kept or only read, none at all if it
is off, and nobody knows how many rows a cell will have.
"""

from __future__ import annotations

import time

import pytest

from pytest_puma.core import Responder, Speed
from pytest_puma.evaluation.cell import Cell
from pytest_puma.session.progress.display import Display, WorkerFile, display_of

#: Seconds from which the remaining time is shown in minutes.
_MINUTES = 90


def progress_of(config: pytest.Config, cell: Cell, responder: Responder, *, finished: int, cells: int) -> Meter | None:
    """Return the progress callback of a cell for `predict`; None if nobody sees it."""
    display = display_of(config)
    beginning = done(finished, cells) if isinstance(display, Display) else ""
    return None if display is None else Meter(cell.id, responder, display, beginning)


def done(finished: int, cells: int) -> str:
    """Return the beginning of a line."""
    return f"puma: {finished} of {cells} cells done; "


def line(
    cell: str, answered: int, samples: int, *, kept: int = 0, speed: float = 0.0, left: float | None = None
) -> str:
    """Return `triage_jira-zero_shot@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left`.

    `kept`: responses from the response store; `speed`: computed tokens per second; `left`: seconds, None if unknown.
    """
    parts = [f"{cell} {answered:,} of {samples:,} samples"]
    parts += [f"{kept:,} answers kept"] if kept else []
    parts += [f"{speed:,.0f} tokens/s"] if speed else []
    if left is not None:
        parts.append(f"about {left / 60:.0f} min left" if left >= _MINUTES else f"about {left:.0f} s left")
    return ", ".join(parts)


class Meter:
    """Counts the samples of a cell, and shows them now and then."""

    def __init__(self, cell: str, responder: Responder, display: Display | WorkerFile, beginning: str) -> None:
        self._cell, self._responder, self._display, self._beginning = cell, responder, display, beginning
        self._started = time.monotonic()
        self._due = self._started + display.patience
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
            self._display.clear()
        elif now >= self._due:
            self._due = now + self._display.pace
            self._display.show(self._beginning + self._line(samples, now - self._started))

    def _line(self, samples: int, seconds: float) -> str:
        computed = self._answered - self._read
        busy = self._speed.prefill_seconds + self._speed.decode_seconds
        tokens = self._speed.prefill_tokens + self._speed.decode_tokens
        return line(
            self._cell,
            self._answered,
            samples,
            kept=self._responder.kept,
            speed=tokens / busy if busy else 0.0,
            # At the rate of the samples that were computed.
            left=seconds * (samples - self._answered) / computed if computed else None,
        )
