from __future__ import annotations

from pathlib import Path

from pytest_puma.scenarios.benchmarks.knowledge import CommonsenseQa
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_arc import original

DEV = [original("q1", "Where do fish live?", "B", A="trees", B="water", C="sand", D="caves", E="clouds")]
TRAIN = [original("q2", "What is hot?", "E", A="ice", B="snow", C="rain", D="mist", E="fire")]
SHOWN = "Question: Where do fish live?\nA. trees\nB. water\nC. sand\nD. caves\nE. clouds"


def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "train_rand_split.jsonl", TRAIN)
    return json_lines(tmp_path / "dev_rand_split.jsonl", DEV).parent


def test_letters_are_scored_without_examples(tmp_path: Path) -> None:
    (fish,) = sample_requests(CommonsenseQa(folder(tmp_path)), "option_scoring", chat=False)
    assert fish.text == f"{SHOWN}\nAnswer:"
    assert fish.continuations == (" A", " B", " C", " D", " E")
    assert fish.golds == ("water",)


def test_letters_are_scored_after_an_example_in_a_chat(tmp_path: Path) -> None:
    (fish,) = sample_requests(CommonsenseQa(folder(tmp_path)), "option_scoring_1")
    assert fish.text == (
        "user: Question: What is hot?\nA. ice\nB. snow\nC. rain\nD. mist\nE. fire\n"
        f"assistant: Answer: E\nuser: {SHOWN}\nassistant: Answer:"
    )


def test_texts_are_scored_without_the_choices(tmp_path: Path) -> None:
    (fish,) = sample_requests(CommonsenseQa(folder(tmp_path)), "cloze_scoring")
    assert fish.text == "user: Question: Where do fish live?\nassistant: Answer:"
    assert fish.continuations == (" trees", " water", " sand", " caves", " clouds")
