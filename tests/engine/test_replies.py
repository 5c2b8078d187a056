from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Backend, Generate, Message, Prompt, Response
from pytest_puma.core.backend import Thoughts
from pytest_puma.engine.jobs import RowOwner
from pytest_puma.engine.replies import GenerateReply, ScoreReply, carriers_of

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

END = "<end>"
NONE = Thoughts()
THINKING = Thoughts(open="<|think|>", close="<|end|><|answer|>", begun=True)


def one_hot(token: int, size: int) -> Logits:
    row = np.zeros(size, np.float32)
    row[token] = 100
    return row


def reply_to(
    pieces: list[bytes | str],
    *,
    stop: tuple[str, ...] = (),
    max_tokens: int = 99,
    room: int | None = None,
    logprobs: bool = False,
    thoughts: Thoughts = NONE,
) -> Response:
    """The response if the model generates these pieces one by one, each as its own token; END ends it."""
    vocabulary = [piece.encode() if isinstance(piece, str) and piece != END else piece for piece in pieces]
    backend = SimpleNamespace(
        stops=(),
        is_end=lambda token: vocabulary[token] == END,
        piece=lambda token: b"" if vocabulary[token] == END else vocabulary[token],
        thoughts=lambda _prompt: thoughts,
    )
    prompt = Prompt(messages=(Message(role="user", content="?"),), stop=stop)
    request = Generate(prompt=prompt, max_tokens=max_tokens, logprobs=logprobs)
    reply = GenerateReply(cast("Backend", backend), request, prompt_tokens=5, max_tokens=room or max_tokens)
    reply.begin(now=1.0, cached=2)
    for token in range(len(vocabulary)):
        if reply.take(one_hot(token, len(vocabulary)), RowOwner(0, None, 5 + token)) is None:
            break
    return reply.response(now=4.0)


@pytest.mark.parametrize(
    ("pieces", "stop", "text"),
    [
        (["a", "b##", "#c"], "###", "ab"),
        (["a", "b#", "#", "#", "c"], "###", "ab"),
        (["###", "c"], "###", ""),
        (["####", "c"], "###", ""),
        (["a\n", "b"], "\n", "a"),
        (["x", b"\xe2", b"\x82", b"\xacy"], "€", "x"),
        (["aab", "aa", "b"], "aabaab", ""),
    ],
)
def test_a_stop_string_is_found_however_tokens_cut_it_and_never_shown(
    pieces: list[bytes | str], stop: str, text: str
) -> None:
    response = reply_to([*pieces, "more"], stop=(stop,))
    assert (response.text, response.finish) == (text, "stop")
    assert response.usage.decoded_tokens <= len(pieces)


@pytest.mark.parametrize("stop", [("B", "C"), ("C", "B")])
def test_the_earliest_of_several_stop_strings_cuts(stop: tuple[str, ...]) -> None:
    assert reply_to(["aB", "c"], stop=stop).text == "a"
    assert reply_to(["aBaC", "c"], stop=stop).text == "a"


@given(
    st.text("ab#", max_size=12),
    st.lists(st.integers(1, 3), min_size=12, max_size=12),
    st.sampled_from(["#", "b#", "aba"]),
)
def test_cutting_at_a_stop_string_does_not_depend_on_the_tokens(text: str, sizes: list[int], stop: str) -> None:
    ends = np.cumsum(sizes).tolist()
    pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    response = reply_to([*pieces, END], stop=(stop,))
    assert response.text == text.partition(stop)[0]


def test_a_stop_string_ends_the_answer_and_not_the_thoughts_before_it() -> None:
    reply = reply_to(["one\n", "two", "<|end|><|answer|>", "Major\n", "more"], stop=("\n",), thoughts=THINKING)
    assert (reply.text, reply.finish) == ("<think>one\ntwo</think>Major", "stop")


def test_a_reply_that_is_cut_off_in_its_thoughts_shows_that_they_are_open() -> None:
    reply = reply_to(["Critical? ", "No"], max_tokens=2, thoughts=THINKING)
    assert (reply.text, reply.finish) == ("<think>Critical? No", "length")


def test_an_empty_stop_string_stops_nothing() -> None:
    assert reply_to(["a", "b", END], stop=("",)).text == "ab"


def test_a_character_split_over_two_tokens_is_whole() -> None:
    assert reply_to([b"\xf0\x93\x82", b"\x80!", END]).text == "\U00013080!"


def test_invalid_bytes_are_replaced() -> None:
    assert reply_to(["a", b"\xff", "b", b"\xe2\x82", END]).text == "a\ufffdb\ufffd"


def test_a_character_that_a_limit_cuts_is_left_out() -> None:
    assert reply_to(["a", b"\xff", b"\xe2\x82", b"\xac"], max_tokens=3).text == "a\ufffd"
    assert reply_to(["a", b"\xe2\x82", b"\xac", "b"], max_tokens=3).text == "a\u20ac"


def test_a_reply_that_fills_the_context_ends_by_the_context() -> None:
    assert reply_to(["a", "b", "c"], max_tokens=2, room=2).finish == "length"
    assert reply_to(["a", "b", "c"], max_tokens=9, room=2).finish == "context"
    assert reply_to(["a", END], max_tokens=9, room=2).finish == "stop"


def test_the_end_token_ends_the_response_and_is_counted_but_not_shown() -> None:
    response = reply_to(["a", END], logprobs=True)
    assert (response.text, response.finish, response.usage.decoded_tokens) == ("a", "stop", 2)
    assert response.logprobs == pytest.approx((0.0, 0.0))


def test_the_limit_ends_the_response() -> None:
    response = reply_to(["a", "b", "c", END], max_tokens=2)
    assert (response.text, response.finish, response.usage.decoded_tokens) == ("ab", "length", 2)


def test_a_stop_string_that_the_last_allowed_token_completes_is_a_stop() -> None:
    assert reply_to(["a", "b#", END], max_tokens=2, stop=("#",)).finish == "stop"


def test_logprobs_are_only_given_on_request() -> None:
    assert reply_to(["a", END]).logprobs == ()


def test_usage_counts_tokens_and_seconds() -> None:
    usage = reply_to(["a", END]).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens, usage.seconds) == (5, 2, 2, 3.0)


def test_a_score_adds_the_shared_first_row_and_each_continuation_its_own() -> None:
    # Rows over three tokens; the logits are log-probabilities already.
    rows = {name: np.log(np.array(row, np.float32)) for name, row in {
        "prompt": [0.5, 0.25, 0.25], "a1": [0.125, 0.125, 0.75], "b1": [0.2, 0.4, 0.4], "b2": [0.1, 0.1, 0.8],
    }.items()}  # fmt: skip
    reply = ScoreReply(((0, 2), (1, 0, 2)), (0, 1), ends=(2,), prompt_tokens=4)
    reply.begin(now=0.0, cached=0)
    reply.take(rows["prompt"], RowOwner(7, None, 3))
    reply.take(rows["b1"], RowOwner(7, 1, 4))
    reply.take(rows["a1"], RowOwner(7, 0, 4))
    reply.take(rows["b2"], RowOwner(7, 1, 5))
    response = reply.response(now=1.0)
    assert np.exp(response.logprobs).tolist() == pytest.approx([0.5 * 0.75, 0.25 * 0.2 * 0.8], rel=1e-6)
    assert (response.finish, response.usage.decoded_tokens) == ("scored", 3)


def test_a_score_gives_each_continuation_with_its_end_apart() -> None:
    rows = {name: np.log(np.array(row, np.float32)) for name, row in {
        "prompt": [0.5, 0.25, 0.25], "a1": [0.125, 0.125, 0.75], "b1": [0.2, 0.4, 0.4], "b2": [0.1, 0.1, 0.8],
    }.items()}  # fmt: skip
    reply = ScoreReply(((0, 2), (1, 0, 2)), (0, 1), ends=(2, 1), prompt_tokens=4)
    for name, row in (
        ("prompt", RowOwner(7, None, 3)),
        ("a1", RowOwner(7, 0, 4)),
        ("b1", RowOwner(7, 1, 4)),
        ("b2", RowOwner(7, 1, 5)),
    ):
        reply.take(rows[name], row)
    response = reply.response(now=1.0)
    first, second = response.likelihoods
    assert np.exp([first.total, second.total]) == pytest.approx([0.5, 0.25 * 0.2], rel=1e-6)
    assert np.exp([first.end or 0, second.end or 0]) == pytest.approx([0.75 + 0.125, 0.8 + 0.1], rel=1e-6)
    assert [(each.tokens, each.greedy) for each in response.likelihoods] == [(1, True), (2, False)]
    assert response.logprobs == tuple(each.total + (each.end or 0) for each in response.likelihoods)


def test_a_score_without_ends_reads_the_last_token_from_the_row_before_it() -> None:
    rows = [np.log(np.array(row, np.float32)) for row in ([0.125, 0.625, 0.25], [0.2, 0.2, 0.6])]
    tails = (1,), (1, 2), (1, 0)
    reply = ScoreReply(tails, carriers_of(tails), ends=(), prompt_tokens=4)
    # The second continuation shares its only computed token with the third one, and the first needs none.
    assert {tails[index][:-1] for index in carriers_of(tails)} == {(1,)}
    reply.take(rows[0], RowOwner(7, None, 3))
    reply.take(rows[1], RowOwner(7, 0, 4))
    response = reply.response(now=1.0)
    assert np.exp(response.logprobs).tolist() == pytest.approx([0.625, 0.625 * 0.6, 0.625 * 0.2], rel=1e-6)
    assert [each.total for each in response.likelihoods] == list(response.logprobs)
    assert [(each.end, each.tokens, each.greedy) for each in response.likelihoods] == [
        (None, 1, True),
        (None, 2, True),
        (None, 2, False),
    ]
    assert response.usage.decoded_tokens == 1
