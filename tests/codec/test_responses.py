"""The responses of a prediction in its line, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.codec.responses import packed, unpacked
from pytest_puma.codec.serialize import plain
from pytest_puma.core import DataError, Likelihood, Prediction, Response, Usage
from tests.factories import prediction

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, max_value=0)
RESPONSES = st.builds(
    Response,
    text=st.text(st.characters(exclude_categories=["Cs"])),
    logprobs=st.lists(NUMBERS, max_size=3).map(tuple),
    likelihoods=st.lists(
        st.builds(Likelihood, total=NUMBERS, end=st.none() | NUMBERS, tokens=st.integers(1, 9), greedy=st.booleans()),
        max_size=2,
    ).map(tuple),
    finish=st.sampled_from(["stop", "length", "context", "scored", "overflow"]),
    usage=st.builds(Usage, prompt_tokens=st.integers(0, 99), seconds=st.floats(0, 9)),
)
ASKED = st.lists(st.tuples(RESPONSES, st.lists(st.text("AB", min_size=1), max_size=3).map(tuple)), min_size=1)


def of(responses: list[Response], answered: list[Response], continuations: list[tuple[str, ...]]) -> Prediction:
    """A prediction as a run makes it: the conversation had these responses, the answer names some of them."""
    return prediction(
        raw=tuple(response.text for response in answered),
        logprobs=tuple(value for response in answered for value in response.logprobs),
        finish=answered[-1].finish,
        usage=Usage.total(response.usage for response in responses),
        responses=tuple(responses),
        continuations=tuple(continuations),
    )


def line(whole: Prediction) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(plain(whole), allow_nan=False))
    return read


@given(ASKED, st.data())
def test_the_responses_come_back_whichever_of_them_the_answer_names(
    requested: list[tuple[Response, tuple[str, ...]]], data: st.DataObject
) -> None:
    responses = [response for response, _ in requested]
    answered = data.draw(st.just(responses) | st.lists(st.sampled_from(responses), min_size=1))
    whole = of(responses, answered, [continuations for _, continuations in requested])
    assert unpacked(line(whole)) == (whole.responses, whole.continuations)


def test_a_single_reply_adds_nothing_to_its_line() -> None:
    reply = Response(text="Major", logprobs=(-0.5,), finish="length", usage=Usage(prompt_tokens=9))
    assert packed(of([reply], [reply], [()])) == [{}]


def test_several_replies_add_their_ends_their_costs_and_the_number_of_their_log_probabilities() -> None:
    replies = [
        Response(text="a", logprobs=(-1.0, -2.0), finish="length", usage=Usage(decoded_tokens=2, seconds=0.5)),
        Response(text="b", usage=Usage(prompt_tokens=7, cached_tokens=5)),
    ]
    assert packed(of(replies, replies, [(), ()])) == [
        {"finish": "length", "usage": (0, 0, 2, 0.5), "logprobs": 2},
        {"usage": (7, 5, 0, 0.0)},
    ]


def test_a_score_adds_its_continuations_and_their_likelihoods() -> None:
    likelihood = Likelihood(total=-1.0, end=-0.5, tokens=2, greedy=True)
    score = Response(logprobs=(-1.5,), likelihoods=(likelihood,), finish="scored")
    assert packed(of([score], [score], [("Minor",)])) == [
        {"likelihoods": [(-1.0, -0.5, 2, True)], "continuations": ("Minor",)}
    ]


def test_a_probability_of_zero_is_null_in_json_and_comes_back() -> None:
    score = Response(logprobs=(float("-inf"), -0.1), finish="scored")
    whole = of([score], [score], [("A", "B")])
    assert line(whole)["logprobs"] == [None, -0.1]
    assert unpacked(line(whole)) == ((score,), (("A", "B"),))


def test_a_single_response_is_restored_from_a_line_of_an_earlier_version() -> None:
    reply = Response(text="Major", finish="length", usage=Usage(seconds=1.5))
    score = Response(logprobs=(-0.5, -1.0), finish="scored")
    scored = replace(of([score], [score], [("A", "B")]), probabilities={"A": 0.6, "B": 0.4})
    for whole in (of([reply], [reply], [()]), scored):
        old = line(whole)
        del old["responses"]
        assert unpacked(old) == (whole.responses, whole.continuations)


def test_several_responses_of_an_earlier_version_are_refused() -> None:
    old = line(of([Response(text="a"), Response(text="b")], [Response(text="a"), Response(text="b")], [(), ()]))
    del old["responses"]
    with pytest.raises(DataError, match=r"^has 2 replies, but not how each of them ended"):
        unpacked(old)
