"""Prompts, answers, caches and sequences that do not fit."""

from __future__ import annotations

from dataclasses import replace

import llama_cpp
import pytest

from pytest_puma.core import EngineError, Request, Step, Usage
from pytest_puma.engine.engine import Engine
from tests.engine.ask import generate, issues, prompt, score, timeless
from tests.engine.cache import RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS, MAMBA, QWEN2, SHAPES, Shape
from tests.tiny_vocabulary import vocabulary

SMALL = tuple(replace(shape, context=256) for shape in SHAPES)
LONG = "The server crashes when the user saves a file. " * 60
#: Incomplete until the limit is reached, so the model cannot end it.
ENDLESS = "root ::= [a-z ]{100,200}"


def fill(backend: RecordedBackend, tokens: int) -> str:
    """A question whose prompt has exactly this many tokens: each of its letters is one."""
    return "#" * (tokens - len(backend.encode(prompt("#"))) + 1)


@pytest.mark.parametrize("small", SMALL, ids=lambda shape: shape.name)
def test_a_prompt_longer_than_the_context_is_an_overflow_of_that_sample_alone(
    small: Shape, open_backend: OpenBackend
) -> None:
    backend = open_backend(small)
    requests: list[Request] = [
        generate("Short?", 3),
        generate(LONG, 3),
        score(LONG, "A", "B"),
        score("Short?", "A", "B"),
    ]
    responses = Engine(backend).run(requests)
    assert [each.finish == "overflow" for each in responses] == [False, True, True, False]
    assert len(backend.encode(prompt(LONG))) > backend.context_limit == 256
    assert responses[1].usage == responses[2].usage == Usage()
    assert responses[2].logprobs == ()
    engine = Engine(backend)
    assert [each.finish for each in engine.run(requests[1:3])] == ["overflow", "overflow"]
    assert engine.idle


@pytest.mark.parametrize("small", SMALL, ids=lambda shape: shape.name)
@pytest.mark.parametrize(
    ("tokens", "finish", "decoded"), [(250, "context", 6), (255, "context", 1), (256, "overflow", 0)]
)
def test_an_answer_ends_where_the_context_does(
    small: Shape, open_backend: OpenBackend, tokens: int, finish: str, decoded: int
) -> None:
    backend = open_backend(small)
    question = fill(backend, tokens)
    assert len(backend.encode(prompt(question))) == tokens
    response = Engine(backend).run([generate(question, 100, grammar=ENDLESS)])[0]
    assert (response.finish, response.usage.decoded_tokens) == (finish, decoded)


def test_a_score_overflows_only_when_a_continuation_does_not_fit(open_backend: OpenBackend) -> None:
    backend = open_backend(replace(LLAMA_BOS, context=256))
    question = fill(backend, 250)
    fits, does_not = Engine(backend).run([score(question, "A", "aaaaaa"), score(question, "A", "aaaaaaa")])
    assert (fits.finish, does_not.finish) == ("scored", "overflow")


def test_the_users_context_size_is_used(shape: Shape, open_backend: OpenBackend) -> None:
    backend = open_backend(shape, n_ctx=512)
    responses = Engine(backend).run([*(generate(question, 4) for question in issues(40)), generate(LONG, 4)])
    assert backend.opened == [(512, 0)]
    assert backend.context_limit == 512
    assert [each.finish for each in responses].index("overflow") == 40
    assert min(each.usage.decoded_tokens for each in responses[:40]) >= 1


def test_a_context_longer_than_that_of_the_training_holds_more_sequences_not_longer_ones(
    open_backend: OpenBackend,
) -> None:
    backend = open_backend(replace(LLAMA_BOS, context=256), n_ctx=1024)
    responses = Engine(backend).run([generate(LONG, 4), generate("Short?", 4)])
    assert [each.finish == "overflow" for each in responses] == [True, False]
    assert backend.opened == [(1024, 0)]


def test_a_longer_request_reopens_a_larger_cache(shape: Shape, open_backend: OpenBackend) -> None:
    backend, reference = open_backend(shape), open_backend(shape)
    engine = Engine(backend)
    engine.run([generate("Short?", 4)])
    ticket = engine.submit(generate("Another short one?", 4))
    later = engine.submit(generate(LONG, 4))
    done = {}
    while not engine.idle:
        done.update(engine.step())
    (small, _), (large, _) = backend.opened
    assert small == 256
    assert large >= len(backend.encode(prompt(LONG)))
    assert done.keys() == {ticket, later}
    alone = Engine(reference).run([generate(LONG, 4)])
    assert timeless([done[later]]) == timeless(alone)


def test_a_cache_of_equal_size_is_cleared_and_reused(
    open_backend: OpenBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, init = [], llama_cpp.llama_init_from_model

    def counted(*arguments: object) -> object:
        made.append(arguments)
        return init(*arguments)

    monkeypatch.setattr(llama_cpp, "llama_init_from_model", counted)
    backend = open_backend(QWEN2)
    engine = Engine(backend)
    engine.run([generate("Short?", 4)])
    engine.reset()
    engine.run([generate("Shorter?", 4)])
    assert backend.opened == [(256, 0), (256, 0)]
    assert len(made) == 1


@pytest.mark.parametrize("parallel", [1, 2, 64])
def test_any_number_of_sequences_answers_the_same(open_backend: OpenBackend, parallel: int) -> None:
    # Without attention a batch changes no logit by more than rounding.
    requests: list[Request] = [generate(question, 5) for question in issues(9)]
    requests += [score(question, "A", "B", "AB") for question in issues(3)]
    default, changed = open_backend(MAMBA), open_backend(MAMBA, parallel=parallel)
    one, other = Engine(default).run(requests), Engine(changed).run(requests)
    assert [each.text for each in one] == [each.text for each in other]
    for left, right in zip(one, other, strict=True):
        assert left.logprobs == pytest.approx(right.logprobs, abs=1e-3)


def test_one_request_at_a_time_still_shares_its_prefix(shape: Shape, open_backend: OpenBackend) -> None:
    responses = Engine(open_backend(shape, parallel=1)).run([generate(question, 3) for question in issues(6)])
    assert sum(each.usage.cached_tokens > 30 for each in responses) == 5


def test_what_would_abort_the_process_is_an_engine_error(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    backend.open(256)
    for step, problem in [
        (Step(0, 0, [1] * (backend.batch + 1), backend.batch), "tokens"),
        (Step(0, 0, [1] * (backend.rows + 1), 0), "rows"),
        (Step(backend.sequences, 0, [1], 0), "sequences"),
        (Step(0, 0, [len(vocabulary()[0])], 0), "llama_decode returned -1"),
        (Step(0, 0, [-1], 0), "llama_decode returned -1"),
    ]:
        with pytest.raises(EngineError, match=problem):
            backend.decode([step])


def test_an_error_tells_its_own_reason_not_that_of_an_earlier_one(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    backend.open(256)
    with pytest.raises(EngineError, match="failed to parse grammar"):
        backend.grammar("root ::= nobody")
    with pytest.raises(EngineError, match="invalid token") as error:
        backend.decode([Step(0, 0, [len(vocabulary()[0])], 0)])
    assert "grammar" not in str(error.value)
