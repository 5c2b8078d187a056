"""The rows of a scenario: the samples and trials of all its cells, in the order of their first appearance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_puma.core import Key, Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    gold: str
    references: tuple[str, ...]
    choices: tuple[str, ...]
    groups: Mapping[str, str]


class Rows:
    """The rows, which grow with each cell."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._rows: list[_Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, predictions: Sequence[Prediction]) -> list[int]:
        """Return the row of each prediction of a cell."""
        for each in predictions:
            if each.key not in self._numbers:
                self._numbers[each.key] = len(self._rows)
                row = _Row(gold=each.gold, references=each.references, choices=each.choices, groups=each.groups)
                self._rows.append(row)
        return [self._numbers[each.key] for each in predictions]

    def number(self, key: Key) -> int | None:
        """Return the row of a sample and trial, None if no cell has it."""
        return self._numbers.get(key)

    def block(self, *, texts: bool, answers: bool) -> dict[str, Any]:
        """Return the block `r`; a list is null if no row has a value in it.

        `texts`: whether to show choices; `answers`: whether to show the ground truths.
        """
        trials = [trial for _, trial in self._numbers]
        return {
            "ids": [sample_id for sample_id, _ in self._numbers],
            "trials": trials if any(trials) else None,
            "gold": [row.gold if answers else "" for row in self._rows],
            "references": _null_if_empty([list(row.references) if answers else [] for row in self._rows]),
            "choices": _null_if_empty([list(row.choices) if texts else [] for row in self._rows]),
            "groups": _null_if_empty([dict(row.groups) for row in self._rows]),
        }


def _null_if_empty(values: list[Any]) -> list[Any] | None:
    return values if any(values) else None
