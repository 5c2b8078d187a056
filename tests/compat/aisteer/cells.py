"""Cells of the quiz with scripted answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_puma.compat.aisteer import MCQAAccuracy, MCQAPositionalBias
from pytest_puma.core import Outcome
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, evaluate, parse_strategy
from tests.compat.aisteer.places import ROWS, PlacesQuiz


def quiz(kind: type[PlacesQuiz] = PlacesQuiz, rows: Any = ROWS, orders: int = 4, **arguments: Any) -> PlacesQuiz:
    return kind(rows, [MCQAAccuracy(), MCQAPositionalBias()], num_orders=orders, **arguments)


def right(prompt: str) -> str:
    """The letter of the answer to a question of `ROWS`."""
    answers = [str(row["answer"]) for row in ROWS]
    return next(line[0] for line in prompt.splitlines() if line[3:] in answers)


def cell_of(use_case: PlacesQuiz, strategy: str = "zero_shot", **options: Any) -> Cell:
    model = Model(name="scripted", path=Path("scripted.gguf"))
    return Cell(scenario=use_case, strategy=parse_strategy(strategy), model=model, **options)


def answered(
    use_case: PlacesQuiz, answer: Callable[[str], str] = right, *, confidence: float = 50.0, **options: Any
) -> Outcome:
    return evaluate(cell_of(use_case, **options), Engine(ScriptedBackend(answer, confidence=confidence)))
