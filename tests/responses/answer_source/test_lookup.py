"""A model whose answers are in a file: how samples find them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_puma.core import DataError, Outcome
from tests.responses.answer_source.scenarios import ROWS, Capitals, texts


def test_a_sample_finds_its_answer_by_its_id(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Capitals, {"id": "p", "text": "Lima"}, {"id": "n", "text": "Bergen"})
    assert texts(outcome) == {"n": ["Bergen"], "p": ["Lima"]}
    assert outcome["exact_match"] == 0.5


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of Norway?",
        "  What is the capital of Norway?\n",
        "Norway",
        "Answer briefly.\n\nQ: What is the capital of Peru?\nA: Lima.\n\nQ: Norway\nA:",
        "Q: What is the capital of Norway?\nA: Let's think step by step.",
    ],
)
def test_a_sample_finds_its_answer_by_its_question(ask: Callable[..., Outcome], prompt: str) -> None:
    outcome = ask(Capitals, {"id": "p", "text": "Lima"}, {"prompt": prompt, "text": "Oslo"})
    assert texts(outcome) == {"n": ["Oslo"], "p": ["Lima"]}


def test_the_id_counts_before_the_question(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Capitals, {"prompt": "Norway", "text": "x"}, {"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"})
    assert texts(outcome)["n"] == ["Oslo"]


def test_two_answers_to_one_question_are_an_error(ask: Callable[..., Outcome]) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: sample 'n' has several answers: line 1 ('Norway') and line 2 ('What is the "
        "capital of Norway?'); expected one line for its prompt"
    )
    lines = [{"prompt": "Norway", "text": "Oslo"}, {"prompt": "What is the capital of Norway?", "text": "Bergen"}]
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Capitals, *lines, {"id": "p", "text": "Lima"})
    assert texts(ask(Capitals, lines[0], lines[1] | {"text": "Oslo"}, {"id": "p", "text": "Lima"}))["n"] == ["Oslo"]


#: The first and the last row have the same prompt.
EQUAL = [{"country": name, "capital": capital} for name, capital in (("Norway", "Oslo"), ("Peru", "Lima"))]
EQUAL.append(EQUAL[0])


class Unnamed(Capitals):
    key = None  # type: ignore[assignment]


def asked(*texts: str) -> list[dict[str, str]]:
    """A line for each text: the first and the last one for Norway, that between them for Peru."""
    countries = ["Norway"] * len(texts)
    countries[1] = "Peru"
    return [
        {"prompt": f"What is the capital of {name}?", "text": text} for name, text in zip(countries, texts, strict=True)
    ]


@pytest.mark.parametrize(
    ("lines", "replies"),
    [
        (asked("Oslo", "Lima", "Bergen"), ["Oslo", "Lima", "Bergen"]),
        (asked("Oslo", "Lima", "Oslo"), ["Oslo", "Lima", "Oslo"]),
        (asked("Oslo", "Lima"), ["Oslo", "Lima", "Oslo"]),
    ],
)
def test_samples_with_equal_prompts_take_the_lines_in_order(
    ask: Callable[..., Outcome], lines: list[dict[str, str]], replies: list[str]
) -> None:
    outcome = ask(Unnamed, *lines, rows=EQUAL)
    first, second = (prediction for prediction in outcome.predictions if prediction.gold == "Oslo")
    peru = next(prediction for prediction in outcome.predictions if prediction.gold == "Lima")
    assert "#2" in second.sample_id
    assert [prediction.raw[0] for prediction in (first, peru, second)] == replies
    assert not any("are not used" in warning for warning in outcome.judgement.warnings)


@pytest.mark.parametrize("count", [1, 3])
def test_more_or_fewer_samples_than_different_answers_are_an_error(ask: Callable[..., Outcome], count: int) -> None:
    problem = (
        "2 answers belong to the samples with one prompt in the order of their rows: line 1 ('What is the capital of "
        "Norway?') and line 3 ('What is the capital of Norway?'); expected the cell to ask all these samples and no "
        "more, or lines with their ids"
    )
    with pytest.raises(DataError, match=re.escape(problem)):
        ask(Unnamed, *asked("Oslo", "Lima", "Bergen"), rows=[EQUAL[1], *[EQUAL[0]] * count])


def test_samples_without_an_answer_are_an_error_that_names_the_first(ask: Callable[..., Outcome]) -> None:
    problem = "recorded:gpt4=answers.jsonl: sample 'p' of capitals-zero_shot@gpt4 has no answer"
    with pytest.raises(DataError, match=f"^{re.escape(problem)}; expected a line with its id or its prompt$"):
        ask(Capitals, {"id": "n", "text": "Oslo"})
    with pytest.raises(DataError, match=re.escape(" has no answer (and 1 more); expected")):
        ask(Capitals, {"id": "x", "text": "Oslo"})


def test_answers_to_the_samples_as_they_are_are_none_to_perturbed_ones(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": "Oslo"}, {"id": "p", "text": "Lima"}, {"prompt": "Norway", "text": "Oslo"}]
    with pytest.raises(
        DataError,
        match=r"capitals-zero_shot\+case_upper@gpt4 has no answer \(and 1 more\); expected a line with its prompt$",
    ):
        ask(Capitals, *lines, perturbation="case_upper")
    shouted = [
        {"prompt": f"What is the capital of {str(row['country']).upper()}?", "text": row["capital"]} for row in ROWS
    ]
    assert ask(Capitals, *lines, *shouted, perturbation="case_upper")["exact_match"] == 1
