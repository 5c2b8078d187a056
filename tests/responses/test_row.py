"""Responses as rows of the store: exact both ways, and a checksum that notices any change."""

from __future__ import annotations

import math
import tracemalloc
import zlib
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Likelihood, Response, TopTokens, Usage
from pytest_puma.responses.row import MOST, check_of, response_of, sound_response, values_of

numbers = st.floats(allow_nan=False)
likelihoods = st.builds(
    Likelihood,
    total=numbers,
    end=st.none() | numbers,
    tokens=st.integers(0, 2**40),
    greedy=st.booleans(),
)
single = st.floats(allow_nan=False, max_value=0, width=32)
tops = st.lists(st.tuples(st.integers(0, 2**31 - 1), single), max_size=5).map(
    lambda pairs: TopTokens(array("i", [token for token, _ in pairs]), array("f", [value for _, value in pairs]))
)
responses = st.builds(
    Response,
    text=st.text(st.characters(), max_size=40) | st.text(min_size=600, max_size=700),
    logprobs=st.lists(st.floats(allow_nan=False, max_value=0), max_size=4).map(tuple),
    likelihoods=st.lists(likelihoods, max_size=4).map(tuple),
    top=st.lists(tops, max_size=3).map(tuple),
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


def test_the_logarithm_of_zero_comes_back_too() -> None:
    response = Response(logprobs=(-math.inf, -0.5))
    assert response_of(values_of(response)) == response


def test_a_long_text_is_deflated() -> None:
    _, text, packed, *_ = values_of(Response(text="ab" * 1000))
    assert packed
    assert len(text) < 100


@pytest.mark.parametrize("place", range(11))
def test_any_changed_value_has_another_checksum(place: int) -> None:
    values = values_of(Response(text="A", logprobs=(-1.0,), usage=Usage(seconds=1)))
    row: list[Any] = ["triage-egi@", b"engine", b"request", b"company", *values]
    before = check_of(*row)
    row[place] = row[place] + (1 if isinstance(row[place], int) else b"x" if isinstance(row[place], bytes) else "x")
    assert check_of(*row) != before


def test_values_do_not_run_together_in_the_checksum() -> None:
    assert check_of(b"ab", b"c") != check_of(b"a", b"bc")


# -- stores from elsewhere, whose checksums are right ------------------------------------------------

OWNER = ("triage-egi@", b"engine")


def row_of(text: bytes, *, packed: int = 1, usage: str = "[1, 0, 1, 0.5]") -> tuple[Any, ...]:
    """A row of its own checksum."""
    row = (b"request", b"company", "stop", text, packed, b"", b"", usage, b"")
    return (*row, check_of(*OWNER, *row))


def test_a_text_that_would_fill_the_memory_is_damaged() -> None:
    assert sound_response(OWNER, row_of(zlib.compress(b"x" * MOST))) == Response(
        text="x" * MOST, usage=Usage(prompt_tokens=1, decoded_tokens=1, seconds=0.5)
    )
    bomb = row_of(zlib.compress(b"x" * (100 * MOST)))
    tracemalloc.start()
    try:
        assert sound_response(OWNER, bomb) is None
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST
    finally:
        tracemalloc.stop()


def test_a_longer_text_is_kept_as_it_is() -> None:
    response = Response(text="x" * (MOST + 1))
    _, _, packed, *_ = values = values_of(response)
    assert not packed
    assert response_of(values) == response


@pytest.mark.parametrize(
    "row",
    [
        row_of(zlib.compress(b"Major")[:-3]),
        row_of(b"no deflated text"),
        row_of(b"\xff", packed=0),
        row_of(b"Major", packed=0, usage="[1, 2]"),
        row_of(b"Major", packed=0, usage="3"),
        row_of(b"Major", packed=0, usage="[" * 100_000),
    ],
)
def test_a_row_that_makes_no_sense_is_damaged_although_its_checksum_is_right(row: tuple[Any, ...]) -> None:
    assert sound_response(OWNER, row) is None
