from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios.benchmarks.instructions import MtBench
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

WRITE = {"question_id": 901, "category": "writing", "turns": ["Write about the sea.", "Now about a lake."]}
COUNT = WRITE | {"question_id": 902, "category": "math", "turns": ["1 + 1?", "And 2 + 2?"], "reference": ["2", "4"]}


@pytest.mark.parametrize("chat", [True, False])
def test_the_first_turn_is_asked_first(tmp_path: Path, *, chat: bool) -> None:
    write, count = sample_requests(MtBench(json_lines(tmp_path / "question.jsonl", [WRITE, COUNT]).parent), chat=chat)
    assert write.text == ("user: Write about the sea.\nassistant:" if chat else "Write about the sea.\n")
    assert (write.golds, count.golds) == ((), ("4",))


def test_the_second_turn_follows_the_reply_of_the_model(tmp_path: Path) -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return "Still water. " * 30 if "lake" in prompt else "Waves."

    cell = Cell(
        scenario=MtBench(json_lines(tmp_path / "question.jsonl", [WRITE])),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(LIBRARY["repetition"],),
    )
    outcome = evaluate(cell, Engine(ScriptedBackend(model)))
    assert "Write about the sea." in prompts[-1]
    assert "Waves." in prompts[-1]
    assert prompts[-1].endswith("Now about a lake.")
    assert outcome["repetition"] == 1.0, "a run of 16 words occurs more than once"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"turns": []}, "row 1, column 'turns': found [] (list), expected at least one text"),
        ({"turns": "Write."}, "row 1, column 'turns': found 'Write.' (str), expected a list"),
        ({"question_id": "901"}, "row 1, column 'question_id': found '901' (str), expected a whole number"),
        ({"reference": "4"}, "row 1, column 'reference': found '4' (str), expected a list"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = MtBench(json_lines(tmp_path / "question.jsonl", [WRITE | change])).rows
    assert fault in str(refused.value)
