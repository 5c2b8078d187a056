"""Small scenarios of choices and completions, and their rows in files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_puma import ChoiceScenario, CompletionScenario
from pytest_puma.core import Sample
from pytest_puma.datasets.sampling import draw


class Quiz(ChoiceScenario):
    """Rows with `question`, `choices` and `answer`."""

    name = "quiz"

    def question(self, item: dict[str, Any]) -> str:
        return item["question"]  # type: ignore[no-any-return]

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        return item["choices"]  # type: ignore[no-any-return]

    def answer(self, item: dict[str, Any]) -> int | str | Sequence[int]:
        return item["answer"]  # type: ignore[no-any-return]


class Capitals(CompletionScenario):
    """Rows with `country` and `capital`."""

    name = "capitals"

    def instruction(self, item: dict[str, Any]) -> str:
        return f"Q: Capital of {item['country']}?"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002
        return "A:"

    def truth(self, item: dict[str, Any]) -> str | Sequence[str] | None:
        return item["capital"]  # type: ignore[no-any-return]


QUESTION = {"question": "Where is a pen?", "choices": ["desk", "sea", "sky"], "answer": 0}
CAPITALS = [
    {"country": country, "capital": capital}
    for country, capital in (("Italy", "Rome"), ("Norway", "Oslo"), ("Peru", "Lima"), ("Japan", "Tokyo"))
]


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write the rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def drawn(scenario: type[ChoiceScenario | CompletionScenario], folder: Path, *rows: Mapping[str, Any]) -> list[Sample]:
    """The samples of a scenario on these rows, in their order."""
    samples = draw(scenario(written(folder / "rows.jsonl", rows)), 1000, 42)
    return sorted(samples, key=lambda sample: int(sample.row.split()[-1]))
