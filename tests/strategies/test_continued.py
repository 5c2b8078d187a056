"""Answers that continue a text, and choices that are scored by what follows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Exchange, Likelihood, Response
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios.choice import ChoiceScenario
from pytest_puma.scenarios.completion import CompletionScenario
from pytest_puma.strategies.conversations import cloze_scoring
from pytest_puma.testing import Cell, Engine, Model, ScriptedBackend, parse_strategy
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


class Verse(CompletionScenario):
    name = "verse"
    delimiter = " / "

    def system(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        return "You write verses."

    def preamble(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        return "In English."

    def instruction(self, item: dict[str, Any]) -> str:
        return f"What follows {item['line']!r}?"

    def continued(self, item: dict[str, Any]) -> str:
        return f"{item['line']}\n"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        return "Next:"

    def truth(self, item: dict[str, Any]) -> str:
        return str(item["next"])


class Blank(ChoiceScenario):
    name = "blank"

    def question(self, item: dict[str, Any]) -> str:
        return str(item["line"])

    def choices(self, item: dict[str, Any]) -> list[str]:  # noqa: ARG002 - the same for each row
        return ["red", "blue"]

    def answer(self, item: dict[str, Any]) -> str:
        return str(item["next"])

    def continued(self, item: dict[str, Any]) -> str:
        return str(item["line"])

    def ending(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        return "today."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    json_lines(tmp_path / "test.jsonl", [{"line": "The sky is", "next": "blue"}])
    json_lines(tmp_path / "train.jsonl", [{"line": "The fire is", "next": "red"}])
    return tmp_path


def test_in_plain_text_the_text_takes_the_place_of_instruction_and_cue(folder: Path) -> None:
    (sky,) = sample_requests(Verse(folder), "one_shot", chat=False)
    assert sky.text == "You write verses.\n\nIn English.\n\nThe fire is / red\n\nThe sky is"


def test_in_a_chat_the_instruction_and_the_cue_stay(folder: Path) -> None:
    (sky,) = sample_requests(Verse(folder), "one_shot")
    assert sky.text == (
        "system: You write verses.\nuser: In English.\n\nWhat follows 'The fire is'?\nassistant: Next: / red\n"
        "user: What follows 'The sky is'?\nassistant: Next:"
    )


def test_reasoning_has_a_question_in_plain_text_too(folder: Path) -> None:
    (sky,) = sample_requests(Verse(folder), "zero_shot_cot", chat=False)
    assert "What follows 'The sky is'?\n\nThink step by step." in sky.text


def test_the_truth_is_scored_behind_the_delimiter(folder: Path) -> None:
    cell = Cell(
        scenario=Verse(folder),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=(LIBRARY["exact_match"], LIBRARY["bits_per_byte"]),
    )
    outcome = evaluate(cell, Engine(ScriptedBackend({}, default="Next: / blue")))
    assert outcome["bits_per_byte"] == pytest.approx(0.0, abs=1e-6)


def test_the_probabilities_of_an_ending_choose(folder: Path) -> None:
    cell = Cell(scenario=Blank(folder), strategy=parse_strategy("cloze_scoring"), model=Model(name="m", path=Path("m")))
    (task,) = tasks_of(cell, None)
    exchange = Exchange(cloze_scoring(task))
    requests = exchange.advance()
    assert [request.prompt.prefill for request in requests] == ["red", "blue"]
    red = Likelihood(total=-3.0, end=None, tokens=2, greedy=False)
    blue = Likelihood(total=-1.0, end=None, tokens=2, greedy=True)
    scored = tuple(Response(logprobs=(each.total,), likelihoods=(each,), finish="scored") for each in (red, blue))
    assert exchange.advance(scored) == ()
    answer = exchange.answer
    assert answer is not None
    assert answer.value == "blue"
    assert answer.likelihoods == (red, blue)
    assert answer.probabilities is not None
    assert answer.probabilities["blue"] == pytest.approx(1 / (1 + 2.718281828**-2))
    assert (answer.unconditional, len(answer.responses)) == ((), 2)


def test_one_choice_beyond_the_context_is_an_overflow(folder: Path) -> None:
    cell = Cell(scenario=Blank(folder), strategy=parse_strategy("cloze_scoring"), model=Model(name="m", path=Path("m")))
    outcome = evaluate(cell, Engine(ScriptedBackend({}, default="blue today.", context_limit=40)))
    assert [each.failure for each in outcome.predictions] == ["overflow"]
