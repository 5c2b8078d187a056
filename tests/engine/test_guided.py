"""Guided requests: a reply to two prompts that get the same tokens, chosen by both rows of logits."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_puma.core import (
    Answer,
    Conversation,
    EngineError,
    Exchange,
    Generate,
    Model,
    ModelOptions,
    Request,
    SettingsError,
    Step,
    ask,
)
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import INSTRUCTIONS, cost, generate, issues, prompt, score, timeless
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import QWEN2, Shape

#: The question without what it is about.
BARE = prompt("The issue is:", system=INSTRUCTIONS)


def strict(model_file: Callable[[Shape], Path], shape: Shape) -> NativeBackend:
    return NativeBackend(Model(name="tiny", path=model_file(shape), options=ModelOptions(strict=True)), threads=1)


def guided(question: Any, max_tokens: int = 12, *, weight: float = 1.5, **changed: Any) -> Generate:
    return generate(question, max_tokens, against=BARE, weight=weight, **changed)


def test_a_weight_of_nothing_is_a_plain_reply(model_file: Callable[[Shape], Path], shape: Shape) -> None:
    with closing(strict(model_file, shape)) as backend:
        questions = issues(4)
        plain = Engine(backend).run([generate(each) for each in questions])
        without = Engine(backend).run([guided(each, weight=0) for each in questions])
        assert [each.text for each in without] == [each.text for each in plain]
        assert [each.finish for each in without] == [each.finish for each in plain]


def test_a_reply_is_that_of_a_loop_by_hand(model_file: Callable[[Shape], Path], shape: Shape) -> None:
    with closing(strict(model_file, shape)) as backend:
        for question in issues(3):
            (response,) = Engine(backend).run([guided(question)])
            assert response.text == by_hand(backend, guided(question))
        (plain,) = Engine(backend).run([generate(question)])
        assert plain.text != response.text


def by_hand(backend: NativeBackend, request: Generate) -> str:
    """Decode both prompts, then the same token after each, by the formula of the paper."""
    assert request.against is not None
    backend.open(2048)
    tokens = [backend.encode(each) for each in (request.prompt, request.against)]
    held, written, weight = [0, 0], "", np.float32(request.weight)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while True:
        steps = [Step(sequence, held[sequence], each, len(each) - 1) for sequence, each in enumerate(tokens)]
        with_it, without = backend.decode(steps)
        token = int(((1 + weight) * with_it - weight * without).argmax())
        held, tokens = [start + len(each) for start, each in zip(held, tokens, strict=True)], [[token]] * 2
        written += decoder.decode(backend.piece(token), final=backend.is_end(token))
        if backend.is_end(token) or held[0] - len(backend.encode(request.prompt)) + 1 == request.max_tokens:
            return written


def test_other_requests_change_no_bit_of_a_strict_reply(model_file: Callable[[Shape], Path], shape: Shape) -> None:
    questions = issues(5)
    requests: list[Request] = [
        guided(questions[0], logprobs=True),
        guided(questions[1], temperature=1.0, seed=3, logprobs=True),
        generate(questions[2], logprobs=True),
        score(questions[3], "Critical", "13"),
        guided(questions[4], weight=0.3, logprobs=True),
    ]
    with closing(strict(model_file, shape)) as backend:
        together = timeless(Engine(backend).run(requests))
        assert [timeless(Engine(backend).run([each]))[0] for each in requests] == together


@pytest.fixture
def engine(open_backend: OpenBackend) -> Engine:
    return Engine(open_backend(QWEN2))


def test_sampling_and_grammar_apply_to_the_mixed_row(engine: Engine) -> None:
    letters = 'root ::= "A" | "B" | "C" | "D" | "E"'
    questions = issues(12)
    for changed in ({"grammar": letters}, {"temperature": 1.0, "seed": 1}, {"grammar": letters, "temperature": 1.0}):
        plain = [each.text for each in engine.run([generate(each, **changed) for each in questions])]
        led = [each.text for each in engine.run([guided(each, weight=9, **changed) for each in questions])]
        assert led != plain
        assert "grammar" not in changed or {*led} <= {*"ABCDE"}


def test_log_probabilities_are_those_after_the_prompt(engine: Engine) -> None:
    (plain,) = engine.run([generate("Which?", 1, logprobs=True)])
    (led,) = engine.run([guided("Which?", 1, weight=9, logprobs=True)])
    assert led.text != plain.text
    assert led.logprobs[0] < plain.logprobs[0] < 0


def test_a_bias_is_added_to_the_mixed_row(engine: Engine) -> None:
    (forced,) = engine.run([guided("Which?", 3, weight=1, bias={" Major": 1000.0})])
    assert forced.text == " Major" * 3


def test_many_at_once_are_like_one_at_a_time_and_share_both_prefixes(open_backend: OpenBackend) -> None:
    backend = open_backend(QWEN2)
    requests = [guided(each, 8) for each in issues(40)]
    together = Engine(backend).run(requests)
    alone = [Engine(backend).run([each])[0] for each in requests]
    assert np.mean([one.text == other.text for one, other in zip(together, alone, strict=True)]) >= 0.9
    bare = len(backend.encode(BARE))
    lengths = [len(backend.encode(each.prompt)) + bare for each in requests]
    assert [each.usage.prompt_tokens for each in together] == lengths
    shared = common_prefix(*(backend.encode(prompt(text, system=INSTRUCTIONS)) for text in "AB"))
    assert cost(together).cached_tokens >= 39 * (bare - 1 + shared) > 0 == cost(alone).cached_tokens


def test_room_is_that_of_the_longer_prompt(open_backend: OpenBackend) -> None:
    backend = open_backend(QWEN2, n_ctx=256)
    long = prompt("server crashes " * 60)
    assert 100 < len(backend.encode(long)) < 250
    room = 256 - len(backend.encode(long))
    (response,) = Engine(backend).run([generate("Which?", 999, against=long, bias={" Major": 1000.0})])
    assert (response.finish, response.usage.decoded_tokens) == ("context", room)
    (response,) = Engine(backend).run([generate("Which?", 9, against=prompt("server crashes " * 300))])
    assert response.finish == "overflow"


# -- the request ---------------------------------------------------------------------------------


def test_a_script_against_itself_is_written_and_against_another_one_too() -> None:
    backend = ScriptedBackend({"Which": "Major"}, default="Trivial")
    same, other = Engine(backend).run(
        [generate("Which?", against=prompt(text), weight=1.0) for text in ("Which one?", "Else?")]
    )
    assert (same.text, same.finish) == ("Major", "stop")
    assert (other.text, other.finish) == ("Major", "stop")


@pytest.mark.parametrize("weight", [-0.5, 101, float("nan"), "1"])
def test_a_weight_is_a_number_within_limits(weight: Any) -> None:
    with pytest.raises(SettingsError, match=r"weight is .*; expected a number from 0 to 100"):
        guided("Which?", weight=weight)


def test_a_responder_that_cannot_is_not_asked() -> None:
    exchange = Exchange(led())
    requests = exchange.advance()
    exchange.check(requests, {"generate", "guidance"})
    with pytest.raises(EngineError, match="requests that need 'guidance', which the responder cannot do"):
        exchange.check(requests, {"generate"})


def led() -> Conversation:
    response = yield from ask(replace(generate("Which?"), against=BARE))
    return Answer(value=None, responses=(response,))
