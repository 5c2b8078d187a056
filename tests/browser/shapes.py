"""Reports in the format of the page's blocks, and the shape of each of their scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PRESENT, RIGHT, FAILED, OVERFLOW, WORSE, BETTER, LEFT_OUT, SHORTENED, DIFFERS, SURE = (1 << bit for bit in range(10))
LABELS = ("Blocker", "Critical", "Major", "Minor")


@dataclass
class Report:
    """The blocks of a page; `flags[cell][row]`."""

    index: dict[str, Any]
    blocks: dict[str, Any] = field(default_factory=dict)
    flags: list[list[int]] = field(default_factory=list)

    def place(self, cell: str) -> int:
        """Return the place of a cell by its id."""
        return [each["id"] for each in self.index["cells"]].index(cell)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Shape of a scenario of a report. `perturbations` and `models` multiply cells; `judged`: replies have findings."""

    name: str = "triage"
    task: str = "classification"
    strategies: Sequence[str] = ("zero_shot", "few_shot_3", "option_scoring")
    models: Sequence[str] = ("q",)
    perturbations: Sequence[str] = ()
    samples: int = 200
    trials: int = 1
    turns: int = 1
    baseline: bool = True
    texts: bool = True
    words: int = 40
    judged: bool = False
