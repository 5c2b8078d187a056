"""The outcome of a scenario whose answers are in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Outcome, Scenario
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.models.argument import recorded_model
from pytest_puma.responses.answer_source import AnswerSource
from pytest_puma.responses.reading import ReadingResponder
from tests.factories import cell
from tests.responses.answer_source.scenarios import ROWS


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """The outcome of a scenario on the rows, with these lines as the answers."""
    monkeypatch.chdir(tmp_path)

    def evaluated(
        scenario: type[Scenario],
        *lines: dict[str, Any],
        strategy: str = "zero_shot",
        rows: Sequence[dict[str, Any]] = ROWS,
        options: str = "",
        **fields: Any,
    ) -> Outcome:
        for name, entries in (("rows", rows), ("answers", lines)):
            text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
            (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        recorded_cell = cell(scenario(data=tmp_path / "rows.jsonl"), strategy, **fields)  # type: ignore[call-arg]
        scores = tuple(LIBRARY[score] for score in scenario.scores if isinstance(score, str))
        recorded_cell = replace(recorded_cell, model=recorded_model(f"gpt4=answers.jsonl{options}"), scores=scores)
        return evaluate(recorded_cell, ReadingResponder(AnswerSource(recorded_cell.model)))

    return evaluated
