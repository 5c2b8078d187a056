"""The cause if a sample has no answer: each one, and which of several."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Answer, Response
from pytest_puma.core.conversation import Finish
from pytest_puma.strategies import ALL, failure_of, parse_strategy
from pytest_puma.strategies.failure import Failure
from tests.strategies.play import Weight, task


def cause(root: Path, text: str, finish: Finish = "stop", *, final_line: bool = False) -> Failure | None:
    question = task(root)
    value = question.read_final(text) if final_line else question.read(text)
    response = Response(text=text, finish=finish)
    return failure_of(question, Answer(value=value, responses=(response,)), (response,), final_line=final_line)


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("SOUR", "stop", None),
        ("SOUR", "length", None),
        ("", "overflow", Failure(cause="overflow")),
        ("SALTY", "stop", Failure(cause="not_a_label", parsed="SALTY")),
        ("SALTY", "length", Failure(cause="not_a_label", parsed="SALTY")),
        ("hard to say", "length", Failure(cause="truncated")),
        ("<think>SWEET or SOUR or", "length", Failure(cause="thinking")),
        ("", "stop", Failure(cause="empty")),
        ("<think>SWEET or SOUR or", "stop", Failure(cause="thinking")),
        ("hard to say", "stop", Failure(cause="unparsed")),
    ],
)
def test_the_cause_of_a_reply_that_is_read_whole(
    tmp_path: Path, text: str, finish: Finish, expected: Failure | None
) -> None:
    assert cause(tmp_path, text, finish) == expected


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("Lemons sting.\nAnswer: SOUR", "stop", None),
        ("Lemons sting.\nAnswer: SALTY", "stop", Failure(cause="not_a_label", parsed="SALTY")),
        ("Lemons sting.\nAnswer: who knows", "stop", Failure(cause="unparsed")),
        ("Lemons sting, so they are sour", "stop", Failure(cause="no_answer_line")),
        ("Lemons sting, so they are sour", "length", Failure(cause="truncated")),
        ("", "stop", Failure(cause="empty")),
    ],
)
def test_the_cause_where_an_answer_line_is_wanted(
    tmp_path: Path, text: str, finish: Finish, expected: Failure | None
) -> None:
    assert cause(tmp_path, text, finish, final_line=True) == expected


def test_a_number_that_is_none_is_no_label_either(tmp_path: Path) -> None:
    question = task(tmp_path, scenario=Weight())
    response = Response(text="a lot")
    result = failure_of(question, Answer(value=None, responses=(response,)), (response,), final_line=False)
    assert result == Failure(cause="not_a_number", parsed="lot")


def test_of_several_replies_the_commonest_cause_is_given(tmp_path: Path) -> None:
    replies = (Response(text="hm"), Response(text="hm", finish="length"), Response(text="hm", finish="length"))
    result = failure_of(task(tmp_path), Answer(value=None, responses=replies), replies, final_line=True)
    assert result == Failure(cause="truncated")


def test_a_strategy_of_ones_own_may_say_why(tmp_path: Path) -> None:
    replies = (Response(text="SOUR"), Response(text="SWEET"))
    answer = Answer(value=None, responses=replies, failure="disagreement")
    assert failure_of(task(tmp_path), answer, replies, final_line=False) == Failure(cause="disagreement")


def test_a_value_that_a_strategy_made_up_is_refused(tmp_path: Path) -> None:
    replies = (Response(text="SOUR"),)
    result = failure_of(task(tmp_path), Answer(value="Sour", responses=replies), replies, final_line=False)
    assert result == Failure(cause="not_a_label", parsed="Sour")


def test_the_strategies_that_ask_for_an_answer_line_say_so() -> None:
    wanted = {name for name in ALL if parse_strategy(name).final_line}
    assert wanted == {"zero_shot_cot", "cot_few_shot", "self_consistency_5", "egi"}
