"""Rows of our own in the formats in which the answers of IFEval, GSM8K and BIG-Bench-Hard were published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma import CompletionScenario
from pytest_puma.core import Outcome
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.models.argument import recorded_model
from pytest_puma.responses.answer_source import AnswerSource
from pytest_puma.responses.reading import ReadingResponder
from pytest_puma.scenarios.benchmarks.instructions import IfEval
from pytest_puma.scenarios.benchmarks.reasoning import BigBenchHard, Gsm8k
from tests.factories import cell

IFEVAL_ROWS = [
    {
        "key": 7,
        "prompt": "Describe a lake without commas.\nUse small letters only.",
        "instruction_id_list": ["punctuation:no_comma", "change_case:english_lowercase"],
        "kwargs": [{}, {}],
    },
    {
        "key": 9,
        "prompt": "Describe a hill without commas.",
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{}],
    },
]
IFEVAL_ANSWERS = [
    {"prompt": "Describe a hill without commas.", "response": "It is high, and green."},
    {"prompt": "Describe a lake without commas.\nUse small letters only.", "response": "a lake is deep and blue."},
]

GSM8K_ROWS = [
    {"question": "Ida has 2 hens. Each lays 3 eggs. How many eggs?", "answer": "2 * 3 = <<2*3=6>>6\n#### 6"},
    {"question": "Bo had 1,200 nails and lost 200. How many are left?", "answer": "He has them.\n#### 1,000"},
]
GSM8K_ANSWERS = [
    {
        "question": row["question"],
        "ground_truth": str(row["answer"]).replace("####", "A:"),
        "6b_finetuning": {"is_correct": False, "solution": "It is <<2+3=5>>5\nA: 5"},
        "175b_verification": {"is_correct": True, "solution": f"So it is {answer}\nA: {answer}"},
    }
    for row, answer in zip(GSM8K_ROWS, ("6", "1000"), strict=True)
]

#: The question of a published prompt stands after solved examples; the first row's question is an example of the other.
BBH_ROWS = [
    {"input": "Is 2 even?\nOptions:\n- Yes\n- No", "target": "Yes"},
    {"input": "not ( True ) is", "target": "False"},
]
_EXAMPLE = (
    "Say whether it is so.\n\nQ: Is 1 even?\nOptions:\n- Yes\n- No\nA: Let's think step by step.\nIt is odd. "
    "So the answer is No."
)
BBH_ANSWERS = [
    {
        "input": f"{_EXAMPLE}\n\nQ: {BBH_ROWS[0]['input']}\nA: Let's think step by step.",
        "prediction": "It is twice 1. So the answer is Yes.",
        "target": "Yes",
    },
    {
        "input": f"{_EXAMPLE}\n\nQ: {BBH_ROWS[0]['input']}\nA: Yes\n\nQ: {BBH_ROWS[1]['input']}\nA:",
        "prediction": " So the answer is True.",
        "target": "False",
    },
]


def outcome_of(folder: Path, scenario: CompletionScenario, argument: str) -> Outcome:
    """The outcome of the rows in the folder on a file of answers."""
    scores = tuple(LIBRARY[name] for name in scenario.scores if isinstance(name, str))
    recorded = replace(cell(scenario), model=recorded_model(argument), scores=scores)
    return evaluate(recorded, ReadingResponder(AnswerSource(recorded.model)), project=folder)


def write(path: Path, entries: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    return path


def test_responses_of_ifeval(tmp_path: Path) -> None:
    rows = write(tmp_path / "input_data.jsonl", IFEVAL_ROWS)
    responses = write(tmp_path / "input_response_data.jsonl", IFEVAL_ANSWERS)
    outcome = outcome_of(tmp_path, IfEval(data=rows), f"gpt4={responses},text=response")
    assert {prediction.sample_id: prediction.text for prediction in outcome.predictions} == {
        "7": "a lake is deep and blue.",
        "9": "It is high, and green.",
    }
    assert (outcome["ifeval.prompt"], outcome["ifeval.instruction"]) == (1 / 2, 2 / 3)


@pytest.mark.parametrize(("system", "accuracy"), [("6b_finetuning", 0), ("175b_verification", 1)])
def test_solutions_of_gsm8k(tmp_path: Path, system: str, accuracy: float) -> None:
    rows = write(tmp_path / "test.jsonl", GSM8K_ROWS)
    solutions = write(tmp_path / "example_model_solutions.jsonl", GSM8K_ANSWERS)
    argument = f"{system}={solutions},prompt=question,text={system}.solution"
    outcome = outcome_of(tmp_path, Gsm8k(data=rows), argument)
    assert outcome["number_match"] == accuracy
    flags = {entry["question"]: entry[system]["is_correct"] for entry in GSM8K_ANSWERS}  # type: ignore[index]
    for prediction in outcome.predictions:
        assert (prediction.loss == 0) is flags[prediction.fields["question"]]


@pytest.mark.parametrize("whole", [True, False], ids=["json", "json_lines"])
def test_outputs_of_big_bench_hard(tmp_path: Path, *, whole: bool) -> None:
    rows = tmp_path / "navigate.json"
    rows.write_text(json.dumps({"examples": BBH_ROWS}), encoding="utf-8")
    outputs = write(tmp_path / "outputs.json", [{"canary": "GUID", "outputs": BBH_ANSWERS}] if whole else BBH_ANSWERS)
    outcome = outcome_of(tmp_path, BigBenchHard(data=rows), f"davinci={outputs},prompt=input,text=prediction")
    assert {str(prediction.gold): prediction.answer for prediction in outcome.predictions} == {
        "Yes": "Yes",
        "False": "True",
    }
    assert outcome["exact_match"] == 0.5
