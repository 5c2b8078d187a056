"""Partial evaluation: what follows the blank decides, not which name is the more frequent one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.perturbations import parse_perturbation
from pytest_puma.scenarios.benchmarks.continuations import Winogrande
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

ROWS = [
    {"sentence": "The cup fell on the rug and the _ broke.", "option1": "cup", "option2": "rug", "answer": "1"},
    {"sentence": "Ann thanked Eve because _ had helped.", "option1": "Ann", "option2": "Eve", "answer": "2"},
]
EXAMPLE = {"sentence": "Tom fed Rex as _ was hungry.", "option1": "Tom", "option2": "Rex", "answer": "2"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "dev.jsonl", ROWS)
    json_lines(tmp_path / "train_xl.jsonl", [EXAMPLE])
    return tmp_path


def test_the_same_ending_is_scored_after_each_name(folder: Path) -> None:
    _, helped = sample_requests(Winogrande(folder), "cloze_scoring_1", chat=False)
    before = "Tom fed Rex as Rex was hungry.\n\nAnn thanked Eve because"
    assert helped.prompts == (f"{before} Ann", f"{before} Eve")
    assert helped.continuations == (" had helped.", " had helped.")
    assert helped.golds == ("Eve",)


def test_in_a_chat_the_name_begins_the_reply(folder: Path) -> None:
    broke, _ = sample_requests(Winogrande(folder), "cloze_scoring_1")
    before = (
        "user: Complete the sentence:\nTom fed Rex as\nassistant: Rex was hungry.\n"
        "user: Complete the sentence:\nThe cup fell on the rug and the\nassistant:"
    )
    assert broke.prompts == (f"{before} cup", f"{before} rug")
    assert broke.continuations == (" broke.", " broke.")


def test_letters_show_the_sentence_with_its_blank(folder: Path) -> None:
    broke, _ = sample_requests(Winogrande(folder), "option_scoring")
    assert broke.text == (
        "user: Which of the two belongs into the blank?\nThe cup fell on the rug and the _ broke.\n"
        "A. cup\nB. rug\nassistant: Answer:"
    )


def test_the_ending_decides_and_not_the_name(folder: Path) -> None:
    """The model finds the wrong name of the second sentence the more probable one."""

    def model(prompt: str) -> str:
        return "Ann had slept." if "Ann" in prompt else "cup broke."

    def ends_well(prompt: str) -> str:
        return "Eve had helped." if "Ann" in prompt else "cup broke."

    outcomes = []
    for script in (model, ends_well):
        cell = Cell(
            scenario=Winogrande(folder),
            strategy=parse_strategy("cloze_scoring"),
            model=Model(name="m", path=Path("m.gguf")),
        )
        outcomes.append(evaluate(cell, Engine(ScriptedBackend(script))))
    assert outcomes[1]["accuracy"] == 1.0
    (helped,) = [each for each in outcomes[1].predictions if each.gold == "Eve"]
    assert len(helped.likelihoods) == len(helped.logprobs) == 2
    assert helped.likelihoods[1].total > helped.likelihoods[0].total
    assert helped.likelihoods[0].tokens == helped.likelihoods[1].tokens, "the same text after each name"
    (slept,) = [each for each in outcomes[0].predictions if each.gold == "Eve"]
    assert slept.likelihoods[0].total < 0.0, "the name itself is not scored"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"sentence": "No blank."}, "row 1, column 'sentence': found 'No blank.', expected a sentence with one _"),
        ({"sentence": "A _ and a _ met."}, "expected a sentence with one _ and text around it"),
        ({"sentence": "_ met."}, "expected a sentence with one _ and text around it"),
        ({"sentence": "They met _"}, "expected a sentence with one _ and text around it"),
        ({"answer": ""}, "row 1, column 'answer': found '' (str), expected a number from 1 to 2"),
        ({"answer": "0"}, "row 1, column 'answer': found '0' (str), expected a number from 1 to 2"),
        ({"option2": None}, "row 1, column 'option2': missing or empty"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = Winogrande(json_lines(tmp_path / "dev.jsonl", [ROWS[0] | change])).rows
    assert fault in str(refused.value)


def cell(folder: Path, perturbation: str) -> Cell:
    return Cell(
        scenario=Winogrande(folder),
        strategy=parse_strategy("cloze_scoring"),
        model=Model(name="m", path=Path("m.gguf")),
        perturbation=parse_perturbation(perturbation),
    )


@pytest.mark.parametrize("perturbation", ["typos_5pct", "case_upper", "replace_10pct", "editor_10pct"])
def test_a_perturbation_leaves_the_blank(folder: Path, perturbation: str) -> None:
    for task in tasks_of(cell(folder, perturbation), None):
        assert task.sample.fields["question"].count("_") == 1


def test_a_perturbation_that_cuts_the_blank_is_refused(folder: Path) -> None:
    """Otherwise the names would be scored, under the same metric."""
    with pytest.raises(
        DataError, match=r"expected a blank _ with text around it: a perturbation that cuts the sentence is"
    ):
        evaluate(cell(folder, "truncate_50pct"), Engine(ScriptedBackend({})))
