"""The line of a prediction, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.codec.predictions import prediction_from, prediction_json
from pytest_puma.core import JUDGE, MODEL, Likelihood, Message, Response, Transcript, Turn, Usage
from tests.factories import prediction

NUMBERS = st.floats(allow_nan=False, max_value=0)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
RESPONSES = st.builds(
    Response,
    text=TEXTS,
    logprobs=st.lists(NUMBERS, max_size=3).map(tuple),
    likelihoods=st.lists(
        st.builds(
            Likelihood,
            total=NUMBERS,
            end=st.none() | st.floats(-99, 0),
            tokens=st.integers(1, 9),
            greedy=st.booleans(),
        ),
        max_size=2,
    ).map(tuple),
    finish=st.sampled_from(["stop", "length", "context", "scored", "overflow"]),
    usage=st.builds(Usage, prompt_tokens=st.integers(0, 99), seconds=st.floats(0, 9)),
)
TURNS = st.builds(
    Turn,
    prompt=st.none() | st.lists(st.builds(Message, role=st.just("user"), content=TEXTS), max_size=2).map(tuple),
    continuations=st.lists(st.text("AB", min_size=1), max_size=3).map(tuple),
    response=RESPONSES,
    cited=st.booleans(),
)
TRANSCRIPTS = st.lists(TURNS, max_size=4).map(lambda turns: Transcript(tuple(turns)))


@given(TRANSCRIPTS, TRANSCRIPTS)
def test_the_conversations_with_the_model_and_with_a_judge_come_back(asked: Transcript, judged: Transcript) -> None:
    whole = prediction(transcripts={MODEL: asked, JUDGE: judged})
    assert prediction_from(prediction_json(whole)) == whole


def test_a_key_with_its_default_is_left_out() -> None:
    reply = Response(text="A", finish="length", usage=Usage(prompt_tokens=9, cached_tokens=4, decoded_tokens=1))
    assert json.loads(prediction_json(prediction("7", transcripts={MODEL: Transcript.of(reply)}))) == {
        "sample_id": "7",
        "gold": "A",
        "answer": "A",
        "transcripts": {"model": [{"text": "A", "finish": "length", "usage": [9, 4, 1, 0.0]}]},
    }


def test_a_probability_of_zero_is_null_in_json_and_comes_back() -> None:
    score = Response(logprobs=(float("-inf"), -0.1), finish="scored")
    whole = prediction(transcripts={MODEL: Transcript.of(score)})
    line = prediction_json(whole)
    assert json.loads(line)["transcripts"]["model"][0]["logprobs"] == [None, -0.1]
    assert prediction_from(line) == whole


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"sample_id": "7", "gold": "A"}', "missing required field `answer`"),
        ('{"sample_id": 7, "gold": "A", "answer": null}', r"Expected `str`, got `int` - at `\$\.sample_id`"),
        ('{"sample_id": "7", "gold": "A", "answer": null, "transcripts": {"me": []}}', "Invalid enum value 'me'"),
        ('{"sample_id": "7", "gold": ', "truncated"),
    ],
)
def test_another_type_is_named_with_its_place(line: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        prediction_from(line)
