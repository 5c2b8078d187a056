"""Tickets, steps and resets: the public interface of the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core import EngineError, Request, Response
from pytest_puma.engine.engine import Engine
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import cost, generate, issues, prompt, score, timeless
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import MAMBA, QWEN2


@pytest.fixture
def engine(open_backend: OpenBackend) -> Engine:
    return Engine(open_backend(MAMBA))


def finish(engine: Engine) -> dict[int, Response]:
    done: dict[int, Response] = {}
    while not engine.idle:
        done.update(engine.step())
    return done


def test_a_new_engine_is_idle_and_a_step_gives_nothing(engine: Engine) -> None:
    assert engine.idle
    assert engine.step() == {}
    assert engine.run([]) == ()


def test_a_stop_string_of_the_backend_ends_every_reply() -> None:
    backend = ScriptedBackend({"points": "Answer: 3\nUser: How many days?\nAssistant: 24"})
    backend.stops = ("\nUser:", "\nAssistant:")
    (response,) = Engine(backend).run([generate("How many points?", 99)])
    assert (response.text, response.finish) == ("Answer: 3", "stop")
    (plain,) = Engine(backend).run([generate(prompt("How many points?", chat=False), 99)])
    assert plain.text == "Answer: 3\nUser: How many days?\nAssistant: 24"


def test_each_ticket_is_answered_once(engine: Engine) -> None:
    requests: list[Request] = [generate("One?", 1), score("Two?", "A", "B"), generate("Three?", 9)]
    tickets = [engine.submit(request) for request in requests]
    assert len(set(tickets)) == 3
    done: list[int] = []
    while not engine.idle:
        done += engine.step()
    assert sorted(done) == tickets


@pytest.mark.parametrize("encoders", [1, 2, 5])
def test_many_requests_are_encoded_like_single_ones(open_backend: OpenBackend, encoders: int) -> None:
    """Several threads share one vocabulary, which caches the last prompt of each thread for its continuations."""
    backend = open_backend(QWEN2)
    prompts = issues(20)
    votes = [generate(each, 4, seed=seed) for each in prompts for seed in range(3)]
    requests: list[Request] = [*votes, *(score(each, "A", "13") for each in prompts)]
    engine = Engine(backend)
    backend.encoders = 1
    alone = engine.run(requests)
    engine = Engine(backend)
    backend.encoders = encoders
    tickets = engine.submit_all(requests)
    assert tickets == list(range(len(requests)))
    done = finish(engine)
    assert timeless([done[ticket] for ticket in tickets]) == timeless(alone)


def test_a_fault_in_one_of_many_is_an_error(open_backend: OpenBackend) -> None:
    backend = open_backend(replace(QWEN2, chat_template="{{ messages[0].content }}"))
    backend.encoders = 2
    with pytest.raises(EngineError, match="the prompt has no tokens"):
        Engine(backend).submit_all([*(generate(each, 4) for each in issues(30)), generate(prompt(""), 4)])


def test_requests_may_arrive_while_others_are_computed(engine: Engine) -> None:
    first = engine.submit(generate("One?", 30))
    done = engine.step()
    second = engine.submit(score("Two?", "A", "B"))
    done |= finish(engine)
    alone = Engine(engine.backend).run([generate("One?", 30), score("Two?", "A", "B")])
    assert done[first].text == alone[0].text
    assert done[second].logprobs == pytest.approx(alone[1].logprobs, abs=1e-3)


def test_a_second_run_finds_the_instructions_of_the_first_in_the_cache(engine: Engine) -> None:
    questions = issues(4)
    engine.run([generate(each, 4) for each in questions])
    assert cost(engine.run([generate(questions[0], 4)])).cached_tokens > 30


def test_run_leaves_the_responses_of_others_for_them(engine: Engine) -> None:
    other = engine.submit(generate("One?", 1))
    (mine,) = engine.run([generate("Two?", 12)])
    assert mine.usage.decoded_tokens > 0
    assert finish(engine).keys() == {other}


def test_a_reset_removes_all_earlier_state(open_backend: OpenBackend) -> None:
    engine, fresh = Engine(open_backend(QWEN2)), Engine(open_backend(QWEN2))
    requests = [generate(question, 6) for question in issues(5)]
    engine.submit(generate("Never answered?", 50))
    engine.submit(score("Nor this?", "A", "B"))
    engine.step()
    engine.step()
    engine.reset()
    assert engine.idle
    assert timeless(engine.run(requests)) == timeless(fresh.run(requests))


def test_a_closed_engine_can_be_closed_again(engine: Engine) -> None:
    engine.run([generate("One?", 1)])
    engine.close()
    engine.close()
    assert engine.idle


def test_seconds_run_from_admission_to_the_end(engine: Engine) -> None:
    (response,) = engine.run([generate("One?", 10)])
    assert 0 < response.usage.seconds < 60
