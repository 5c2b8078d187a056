"""Progress of a cell, as numbers that pass between processes, and as a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.platform.shape import misfit

#: Key of the worker input: the file of the worker.
INPUT = "puma_progress"
#: Seconds from which the remaining time is shown in minutes.
_MINUTES = 90
_SHAPE = {"cell": str, "answered": int, "samples": int, "kept": int, "speed": float, "left": float}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellProgress:
    """Progress of a cell. `kept`: responses from the response store; `speed`: computed tokens per second, 0 if none.

    `left`: seconds to its end at the rate of the samples that were computed, negative if it is unknown.
    """

    cell: str
    answered: int
    samples: int
    kept: int
    speed: float
    left: float

    def __str__(self) -> str:
        """`triage_jira-zero_shot@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left`."""
        kept = f", {self.kept:,} answers kept" if self.kept else ""
        speed = f", {self.speed:,.0f} tokens/s" if self.speed else ""
        left = ""
        if self.left >= 0:
            time = f"{self.left / 60:.0f} min" if self.left >= _MINUTES else f"{self.left:.0f} s"
            left = f", about {time} left"
        return f"{self.cell} {self.answered:,} of {self.samples:,} samples{kept}{speed}{left}"


def done(finished: int, cells: int) -> str:
    """Return the beginning of a line."""
    return f"puma: {finished} of {cells} cells done; "


def read(file: Path) -> CellProgress | None:
    """Return the progress that a worker wrote; None if it wrote nothing, or is writing."""
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None if misfit(entry, _SHAPE) else CellProgress(**entry)
