"""Logits that a request changes before a token is chosen: a bias of single tokens, and penalties, on real llama.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_puma.core import Answer, Conversation, EngineError, Exchange, Penalties, SettingsError, ask
from pytest_puma.engine.adjustment import Adjustment
from pytest_puma.engine.engine import Engine
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import generate
from tests.engine.cache import RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS

LETTERS = 'root ::= "A" | "B" | "C"'


@pytest.fixture
def llama(open_backend: OpenBackend) -> RecordedBackend:
    return open_backend(LLAMA_BOS)


def text(backend: RecordedBackend, max_tokens: int = 3, **changed: Any) -> str:
    return Engine(backend).run([generate("Which?", max_tokens, **changed)])[0].text


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_text_of_one_token_is_added_to_before_a_token_is_chosen(llama: RecordedBackend, temperature: float) -> None:
    assert text(llama, bias={" Major": 900.0}, temperature=temperature) == " Major" * 3
    assert text(llama, bias={" Major": 900.0, " Minor": 999.0}, temperature=temperature) == " Minor" * 3


def test_a_greedy_reply_changes_where_its_token_is_forbidden(llama: RecordedBackend) -> None:
    free = text(llama, grammar=LETTERS)
    forbidden = text(llama, grammar=LETTERS, bias={free: -1000.0})
    assert forbidden in {"A", "B", "C"} - {free}
    assert text(llama, grammar=LETTERS, bias={free: -1000.0, forbidden: -1000.0}) not in {free, forbidden}


def test_a_bias_and_penalties_of_nothing_change_nothing(llama: RecordedBackend) -> None:
    plain = text(llama, 20)
    assert text(llama, 20, bias={" Major": 0.0}, penalties=Penalties()) == plain


def test_log_probabilities_are_those_of_the_model(llama: RecordedBackend) -> None:
    plain, biased = (
        Engine(llama).run([generate("Which?", 1, logprobs=True, bias=bias)])[0] for bias in (None, {" Major": 900.0})
    )
    assert biased.text == " Major" != plain.text
    assert biased.logprobs[0] < plain.logprobs[0] < 0


def test_a_text_of_several_tokens_is_refused_with_its_tokens(llama: RecordedBackend) -> None:
    with pytest.raises(SettingsError, match=r"' Major Minor': it is 2 tokens of this model: ' Major', ' Minor';"):
        text(llama, bias={" Major Minor": 1.0})
    with pytest.raises(SettingsError, match=r"bias of '': it is 0 tokens"):
        text(llama, bias={"": 1.0})
    # A control token is no text.
    with pytest.raises(SettingsError, match=r"bias of '<\|im_end\|>': it is \d+ tokens"):
        text(llama, bias={"<|im_end|>": 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9, "2"])
def test_a_bias_is_a_number_within_limits(value: Any) -> None:
    with pytest.raises(SettingsError, match=r"bias of ' Major' is .*; expected a number from -1000 to 1000"):
        generate("Which?", bias={" Major": value})
    with pytest.raises(SettingsError, match=r"frequency is .*; expected a number from -1000 to 1000"):
        Penalties(frequency=value)
    with pytest.raises(SettingsError, match="repetition is"):
        Penalties(repetition=0)


def test_each_token_of_a_vocabulary_is_found_by_its_text(backend: RecordedBackend) -> None:
    """Of each kind of tokenizer, also where a blank is put before a first word."""
    found = 0
    for token in range(backend.size):
        piece = backend.piece(token)
        try:
            spelled = piece.decode()
        except UnicodeDecodeError:
            continue
        tokens = backend.tokens(spelled)
        if spelled:
            assert b"".join(map(backend.piece, tokens)) == piece
            found += [backend.piece(one) for one in tokens] == [piece]
    assert found > 50


def test_penalties_are_those_of_their_formulas() -> None:
    """By hand: token 97 twice and 98 once; 2 / 1.5 - 2 * 0.3 - 0.1, -1 * 1.5 - 0.3 - 0.1, and 97 biased by 1."""
    penalties = Penalties(repetition=1.5, frequency=0.3, presence=0.1)
    adjustment = Adjustment(ScriptedBackend({}), generate("Which?", bias={"a": 1.0}, penalties=penalties))
    row = np.zeros(257, dtype=np.float32)
    row[[97, 98, 99]] = 2.0, -1.0, 5.0
    before = row.copy()
    assert adjustment.adjusted(row)[97] == 3.0
    for token in (97, 98, 97):
        adjustment.accept(token)
    changed = adjustment.adjusted(row)
    assert changed[[97, 98, 99, 0]].tolist() == pytest.approx([2 / 1.5 - 0.7 + 1, -1.9, 5.0, 0.0])
    assert (row == before).all()


def test_a_penalty_ends_a_loop(llama: RecordedBackend) -> None:
    looping = text(llama, 6, bias={" Major": 50.0})
    assert looping == " Major" * 6
    assert text(llama, 6, bias={" Major": 50.0}, penalties=Penalties(presence=100)).count(" Major") == 1


def test_a_responder_that_cannot_is_not_asked() -> None:
    exchange = Exchange(penalised())
    requests = exchange.advance()
    exchange.check(requests, {"generate", "bias"})
    with pytest.raises(EngineError, match="requests that need 'bias', which the responder cannot do"):
        exchange.check(requests, {"generate"})


def penalised() -> Conversation:
    response = yield from ask(generate("Which?", penalties=Penalties(presence=1.0)))
    return Answer(value=None, responses=(response,))
