from __future__ import annotations

from pathlib import Path

from pytest_puma.strategies.conversations import direct
from tests.strategies.play import OVERFLOW, Weight, play, responses, task


def test_one_request_is_asked_and_its_whole_reply_read(tmp_path: Path) -> None:
    question = task(tmp_path)
    replies = responses("I say SOUR.")
    played = play(direct(question), replies)
    assert played.rounds == ((question.generate(question.prompt()),),)
    assert played.answer.value == "SOUR"
    assert played.answer.responses == replies
    assert played.answer.probabilities is None


def test_an_unreadable_reply_is_no_answer(tmp_path: Path) -> None:
    assert play(direct(task(tmp_path)), responses("no idea")).answer.value is None


def test_an_overflow_is_no_answer_whatever_the_parser_says_of_nothing(tmp_path: Path) -> None:
    played = play(direct(task(tmp_path, scenario=Weight())), (OVERFLOW,))
    assert played.answer.value is None
    assert played.answer.responses == (OVERFLOW,)
