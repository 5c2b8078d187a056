"""Replies that were cut off, in conversations: strategies pass the whole response to the parser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Response, Sample
from pytest_puma.replies.readers import the_answer_is
from pytest_puma.scenarios import EstimationTawosScenario
from pytest_puma.strategies import parse_strategy
from tests import factories
from tests.composed import QUESTION, Capitals, Quiz, drawn
from tests.strategies.play import Weight, play, task


class Stated(Capitals):
    """The capital behind `answer is`."""

    def post_process(self, text: str, sample: Sample) -> str | None:  # noqa: ARG002
        return the_answer_is(text)


@pytest.mark.parametrize("name", ["zero_shot", "zero_shot_cot", "self_consistency_2", "egi"])
def test_each_strategy_tells_the_parser_that_the_reply_was_cut_off(tmp_path: Path, name: str) -> None:
    strategy = parse_strategy(name)
    rounds = 2 if name == "egi" else 1
    each = (Response(text="Answer: 1", finish="length"),) * (2 if name == "self_consistency_2" else 1)
    played = play(strategy.converse(task(tmp_path, scenario=Weight())), *[each] * rounds)
    assert played.answer.value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The answer is Rome. It h", "Rome"),
        ("The answer is Rome", None),  # or Romeoville
        ("It has been", None),
    ],
)
def test_an_answer_taken_out_of_a_cut_text_does_not_depend_on_its_last_word(
    tmp_path: Path, text: str, value: str | None
) -> None:
    question = task(tmp_path, scenario=Stated())
    assert question.read(Response(text=text, finish="length")) == value


@pytest.mark.parametrize("text", ["Rome", "Rome is a ci", "Rome is a city.\n"])
def test_a_text_may_be_cut_off_anywhere(tmp_path: Path, text: str) -> None:
    question = task(tmp_path, scenario=Capitals())
    for read in (question.read, question.read_final):
        assert read(Response(text=text, finish="length")) == text.strip()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A", "desk"),
        ("a", "desk"),
        ("sea", "sea"),
        ("B. sea\nPens sw", "sea"),
        ("The answer is B", None),  # or C
        ("One could say desk", None),  # or sea
        ("So.\nAnswer: C", "sky"),
    ],
)
def test_a_letter_or_a_choice_at_the_end_of_a_cut_reply_counts_only_alone(
    tmp_path: Path, text: str, value: str | None
) -> None:
    question = replace(task(tmp_path, scenario=Quiz()), sample=drawn(Quiz, tmp_path, QUESTION)[0])
    assert question.read(Response(text=text, finish="length")) == value


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Steps:\n\n1", None),
        ("The story points are 1", None),
        ("5", None),
        ("5\n\nIt has 2 par", "5"),
        ("8 points", "8"),
    ],
)
def test_a_number_at_the_end_of_a_cut_reply_is_no_estimate(reply: str, answer: str | None) -> None:
    assert factories.task(EstimationTawosScenario()).read(Response(text=reply, finish="length")) == answer
