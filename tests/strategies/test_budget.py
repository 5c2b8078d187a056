"""A number of tokens to reason with, then the answer by force."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Answer, Generation, Response
from pytest_puma.strategies import failure_of, parse_strategy, resolve_generation
from pytest_puma.strategies.conversations import budget
from tests.strategies.play import OVERFLOW, Play, play, responses, task

CUT = Response(text="Lemons are very s", finish="length")


def asked(root: Path, reasoning: Response, reply: str = " SOUR", bound: str | None = None) -> Play:
    return play(budget(task(root, bound=bound), tokens=8), (reasoning,), responses(reply))


def test_the_reasoning_has_its_own_number_of_tokens_and_ends_before_the_answer(tmp_path: Path) -> None:
    question = task(tmp_path, generation=Generation(max_tokens=16, temperature=0.0, grammar='root ::= "SOUR"'))
    first, second = play(budget(question, tokens=8), (CUT,), responses(" SOUR")).generates
    assert (first.max_tokens, first.prompt.stop, first.grammar) == (8, ("Answer:",), None)
    assert (second.max_tokens, second.prompt.stop, second.grammar) == (16, (), 'root ::= "SOUR"')
    assert second.prompt.messages == first.prompt.messages
    assert first.seed != second.seed


@pytest.mark.parametrize(
    ("text", "prefill"),
    [
        ("Lemons are very s", "Lemons are very s\nAnswer:"),
        ("Lemons sting.\n\n", "Lemons sting.\nAnswer:"),
        ("", "Answer:"),
        ("<think>\nLemons st", "<think>\nLemons st</think>\nAnswer:"),
        ("<think>Lemons.</think>\n\nThey sting", "<think>Lemons.</think>\n\nThey sting\nAnswer:"),
        ("<think>\n", "Answer:"),
    ],
)
def test_the_answer_continues_what_was_said_with_closed_thoughts(tmp_path: Path, text: str, prefill: str) -> None:
    played = asked(tmp_path, Response(text=text, finish="length"))
    assert played.generates[1].prompt.prefill == prefill
    assert played.answer.value == "SOUR"
    assert len(played.answer.responses) == 2


def test_without_a_token_the_answer_is_all(tmp_path: Path) -> None:
    played = play(budget(task(tmp_path), tokens=0), responses(" SOUR"))
    assert played.generates[0].prompt.prefill == "Answer:"
    assert played.answer.value == "SOUR"


def test_the_answer_is_the_line_alone(tmp_path: Path) -> None:
    assert asked(tmp_path, CUT, " SOUR\nOr rather SWEET").answer.value == "SOUR"
    assert asked(tmp_path, CUT, "\nSOUR").answer.value == "SOUR"


@pytest.mark.parametrize(
    ("reply", "cause", "parsed"),
    [(" SALTY", "not_a_label", "SALTY"), (" who knows", "unparsed", None), (" ", "empty", None)],
)
def test_an_answer_that_is_none_has_its_cause(tmp_path: Path, reply: str, cause: str, parsed: str | None) -> None:
    answer: Answer = asked(tmp_path, CUT, reply).answer
    failure = failure_of(task(tmp_path), answer, answer.responses[1:], final_line=True)
    assert failure is not None
    assert (failure.cause, failure.parsed) == (cause, parsed)


def test_a_retry_under_a_grammar_writes_the_line_itself(tmp_path: Path) -> None:
    played = asked(tmp_path, CUT, "Answer: SOUR", bound='root ::= "Answer: SOUR"')
    assert played.generates[1].prompt.prefill == "Lemons are very s\n"
    assert played.answer.value == "SOUR"


def test_an_overflow_ends_it(tmp_path: Path) -> None:
    played = play(budget(task(tmp_path), tokens=8), (OVERFLOW,))
    assert played.answer.responses == (OVERFLOW,)


def test_a_curve_is_a_family_of_strategies() -> None:
    for tokens in (0, 64, 256):
        strategy = parse_strategy(f"budget-{tokens}")
        assert strategy.templates == (f"budget_{tokens}", "budget", "zero_shot_cot")
        assert resolve_generation(strategy, Generation()).max_tokens == 16
        assert resolve_generation(strategy, Generation(), 40).max_tokens == 40
