from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.strategies.conversations import chain_of_thought
from tests.strategies.play import OVERFLOW, Weight, play, responses, task


def test_the_reasoning_is_not_taken_for_the_answer(tmp_path: Path) -> None:
    question = task(tmp_path, scenario=Weight())
    played = play(chain_of_thought(question), responses("1. A lemon is not a melon.\nAnswer: 5"))
    assert played.rounds == ((question.generate(question.prompt()),),)
    assert played.answer.value == "5"


@pytest.mark.parametrize("text", ["It is SOUR.", "SWEET or SOUR", "Answer:"])
def test_a_reply_without_an_answer_line_is_no_answer(tmp_path: Path, text: str) -> None:
    assert play(chain_of_thought(task(tmp_path)), responses(text)).answer.value is None


def test_an_overflow_is_no_answer(tmp_path: Path) -> None:
    played = play(chain_of_thought(task(tmp_path)), (OVERFLOW,))
    assert played.answer.value is None
    assert played.answer.responses == (OVERFLOW,)
