"""Responses as rows of the store: exact both ways, and a checksum that notices any change."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Likelihood, Response, Usage
from pytest_puma.store.row import check_of, response_of, values_of

numbers = st.floats(allow_nan=False)
likelihoods = st.builds(
    Likelihood,
    total=numbers,
    end=st.none() | numbers,
    tokens=st.integers(0, 2**40),
    greedy=st.booleans(),
)
responses = st.builds(
    Response,
    text=st.text(st.characters(), max_size=40) | st.text(min_size=600, max_size=700),
    logprobs=st.lists(numbers, max_size=4).map(tuple),
    likelihoods=st.lists(likelihoods, max_size=4).map(tuple),
    finish=st.sampled_from(["stop", "length", "context", "scored", "overflow"]),
    usage=st.builds(
        Usage,
        prompt_tokens=st.integers(0, 2**40),
        cached_tokens=st.integers(0, 9),
        decoded_tokens=st.integers(0, 9),
        seconds=st.floats(0, 1e9),
    ),
)


@given(responses)
def test_a_response_comes_back_to_the_last_bit(response: Response) -> None:
    assert response_of(values_of(response)) == response


def test_what_is_no_number_comes_back_too() -> None:
    response = response_of(values_of(Response(logprobs=(math.nan, -math.inf))))
    assert math.isnan(response.logprobs[0])
    assert response.logprobs[1] == -math.inf


def test_a_long_text_is_deflated() -> None:
    _, text, packed, *_ = values_of(Response(text="ab" * 1000))
    assert packed
    assert len(text) < 100


@pytest.mark.parametrize("place", range(8))
def test_any_changed_value_has_another_checksum(place: int) -> None:
    row: list[Any] = [b"request", b"company", *values_of(Response(text="A", logprobs=(-1.0,), usage=Usage(seconds=1)))]
    before = check_of(row[0], row[1], tuple(row[2:]))
    row[place] = row[place] + (1 if isinstance(row[place], int) else b"x" if isinstance(row[place], bytes) else "x")
    assert check_of(row[0], row[1], tuple(row[2:])) != before


def test_values_do_not_run_together_in_the_checksum() -> None:
    assert check_of(b"ab", b"c", ()) != check_of(b"a", b"bc", ())
