from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.codec.exchange import requests_bytes, requests_from, responses_bytes, responses_from
from pytest_puma.core import Generate, Likelihood, Message, Prompt, Request, Response, Score, TopTokens, Usage
from pytest_puma.core.conversation import Penalties

#: With lone surrogates, which UTF-8 has not.
TEXTS = st.text(st.characters(exclude_categories=[]))
NUMBERS = st.floats(allow_nan=False, max_value=1e300)
PROMPTS = st.builds(
    Prompt,
    messages=st.lists(st.builds(Message, role=st.sampled_from(["system", "user"]), content=TEXTS)).map(tuple),
    prefill=TEXTS,
    stop=st.lists(TEXTS).map(tuple),
    chat=st.booleans(),
)
REQUESTS: st.SearchStrategy[Request] = st.one_of(
    st.builds(
        Generate,
        prompt=PROMPTS,
        max_tokens=st.integers(1, 10_000),
        temperature=st.floats(0, 2),
        seed=st.integers(0, 2**63),
        grammar=st.none() | TEXTS,
        bias=st.none() | st.dictionaries(TEXTS, st.floats(-1000, 1000)),
        penalties=st.none() | st.builds(Penalties, presence=st.floats(0, 2)),
        against=st.none() | PROMPTS,
    ),
    st.builds(
        Score, prompt=PROMPTS, continuations=st.lists(TEXTS.filter(bool), min_size=1).map(tuple), ends=st.booleans()
    ),
)
LIKELIHOODS = st.builds(
    Likelihood, total=NUMBERS, end=st.none() | NUMBERS, tokens=st.integers(0, 2**40), greedy=st.booleans()
)
TOP = st.lists(st.integers(0, 2**31 - 1)).map(
    lambda tokens: TopTokens(array("i", tokens), array("f", [-token / 3 for token in tokens]))
)
RESPONSES = st.builds(
    Response,
    text=TEXTS,
    logprobs=st.lists(NUMBERS).map(tuple),
    likelihoods=st.lists(LIKELIHOODS).map(tuple),
    top=st.lists(TOP).map(tuple),
    finish=st.sampled_from(["stop", "length", "scored", "overflow"]),
    usage=st.builds(Usage, prompt_tokens=st.integers(0, 99), seconds=st.floats(0, 9)),
)


@given(st.lists(REQUESTS))
def test_requests_arrive_as_they_were(requests: list[Request]) -> None:
    assert requests_from(requests_bytes(requests)) == requests


@given(st.dictionaries(st.integers(0, 2**40), RESPONSES))
def test_responses_arrive_to_the_last_bit_and_in_their_order(responses: dict[int, Response]) -> None:
    arrived = responses_from(responses_bytes(responses))
    assert arrived == responses
    assert list(arrived) == list(responses)


def test_values_of_other_libraries_arrive_as_plain_ones() -> None:
    class Text(str):
        __slots__ = ()

    request = Score(prompt=Prompt(messages=(Message(role="user", content=Text("a")),)), continuations=(Text("b"),))
    (arrived,) = requests_from(requests_bytes([request]))
    assert arrived == request
    assert type(arrived.prompt.messages[0].content) is str
    (response,) = responses_from(responses_bytes({0: Response(logprobs=(np.float64(-1),))})).values()
    assert response.logprobs == (-1.0,)
