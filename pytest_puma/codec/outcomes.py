"""An outcome as JSON: in lines, its form on a test report, and flat, its form in `run.json`.

Any object but a text on a report would end an xdist worker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, overload

from pytest_puma.codec.nouns import FLAT, read
from pytest_puma.codec.plain import plain
from pytest_puma.codec.predictions import prediction_from, prediction_json
from pytest_puma.core import Outcome, Prediction


class PredictionLines(Sequence[Prediction]):
    """Predictions as lines of JSON, which are read when the first one is asked for: few runs look at them again."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @cached_property
    def _read(self) -> tuple[Prediction, ...]:
        return tuple(map(prediction_from, self.lines))

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, index: int | slice) -> Prediction | Sequence[Prediction]:
        """One prediction, or several."""
        return self._read[index]

    def __len__(self) -> int:
        """Their number."""
        return len(self.lines)


def flat(outcome: Outcome) -> dict[str, Any]:
    """Return one object with all that an outcome has but its predictions, the fields of its records side by side."""
    entry = {"cell": plain(outcome.cell)}
    for field in fields(Outcome):
        if field.name != "predictions":
            value = plain(getattr(outcome, field.name))
            entry |= value if (Outcome, field.name) in FLAT else {field.name: value}
    return entry


def to_lines(outcome: Outcome) -> str:
    """Return a line for the outcome without its predictions, then a line for each prediction."""
    head = json.dumps(flat(outcome), allow_nan=False, ensure_ascii=False)
    return "\n".join([head, *map(prediction_json, outcome.predictions)])


def from_lines(text: str) -> Outcome:
    """Read the outcome that `to_lines` wrote."""
    head, *lines = text.split("\n")
    return replace(read(Outcome, json.loads(head)), predictions=PredictionLines(lines))
