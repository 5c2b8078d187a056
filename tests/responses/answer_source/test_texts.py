"""Recorded texts of trials and of several requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_puma.core import DataError, Outcome
from tests.responses.answer_source.scenarios import Capitals, Shuffled, TwoTurns, texts


def test_each_trial_has_its_own_text(ask: Callable[..., Outcome]) -> None:
    outcome = ask(Shuffled, {"id": "n", "text": ["A", "B"]}, {"id": "p", "text": ["A", "A"]})
    assert texts(outcome) == {"n": ["A", "B"], "p": ["A", "A"]}
    for prediction in outcome.predictions:
        place = (prediction.order or (0, 1))["AB".index(prediction.raw[0])]
        assert prediction.answer == prediction.choices[place]


@pytest.mark.parametrize("text", ["A", ["A"]])
def test_one_text_is_no_answer_to_two_trials(ask: Callable[..., Outcome], text: Any) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: line 1 ('n') has text for 1 trials, but sample 'n', trial 2 is asked; expected a "
        "list with one text for each trial"
    )
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(Shuffled, {"id": "n", "text": text}, {"id": "p", "text": ["A", "B"]})


def test_several_requests_of_a_trial_have_a_text_each(ask: Callable[..., Outcome]) -> None:
    lines = [{"id": "n", "text": [["It is Oslo.", "Oslo"]]}, {"prompt": "Peru", "text": [["Lima?", "Lima"]]}]
    outcome = ask(TwoTurns, *lines)
    assert texts(outcome) == {"n": ["It is Oslo.", "Oslo"], "p": ["Lima?", "Lima"]}
    assert outcome["exact_match"] == 1
    (norway,) = [prediction for prediction in outcome.predictions if prediction.sample_id == "n"]
    last = outcome.prompts(norway)[-1]
    assert [message.content for message in last][-2:] == ["It is Oslo.", "Write it again, please."]


def test_too_few_texts_of_a_trial_are_an_error(ask: Callable[..., Outcome]) -> None:
    problem = (
        "recorded:gpt4=answers.jsonl: line 1 ('n') has text for 1 requests of sample 'n', but there are more; expected "
        "a list of lists, with one text for each request"
    )
    with pytest.raises(DataError, match=f"^{re.escape(problem)}$"):
        ask(TwoTurns, {"id": "n", "text": "Oslo"}, {"id": "p", "text": [["Lima?", "Lima"]]})


def test_self_consistency_takes_its_texts_in_order(ask: Callable[..., Outcome]) -> None:
    replies = [["Answer: Oslo", "Answer: Bergen", "Answer: Oslo"]]
    outcome = ask(Capitals, {"id": "n", "text": replies}, {"id": "p", "text": replies}, strategy="self_consistency_3")
    assert texts(outcome) == {"n": replies[0], "p": replies[0]}
    assert [prediction.answer for prediction in outcome.predictions] == ["Oslo", "Oslo"]
