"""Shared cache or streams: the choice for a set of jobs, and equal answers from both."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.core import Model
from pytest_puma.engine.cache import Cache, cache_for, whole_blocks
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.jobs import Job
from pytest_puma.engine.native import DryBackend
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import cost, generate, issues, one_at_a_time, score, timeless
from tests.engine.cache import NOISE
from tests.engine.conftest import OpenBackend
from tests.engine.drive import job
from tests.tiny_gguf import CHATML, GEMMA3_SWA, LLAMA_BOS, MAMBA, QWEN2, Shape, write_vocab_only

#: New tokens that outnumber those of the prompts.
LONG_ANSWER = 150


def limited(*, parallel: int = 4, good_kv_slots: int = 1000, stream_kv_slots: int = 16384) -> ScriptedBackend:
    backend = ScriptedBackend({})
    backend.parallel = backend.parallel_streams = parallel
    backend.good_kv_slots, backend.stream_kv_slots = good_kv_slots, stream_kv_slots
    return backend


def chosen(jobs: list[Job], **limits: int) -> Cache:
    """The cache for all of these jobs."""
    cache, first, later = cache_for(jobs, limited(**limits))
    assert later == []
    assert sorted(first) == sorted(jobs)
    return cache


def prompts(room: int) -> list[Job]:
    """Ten jobs of a thousand tokens that share the first nine hundred."""
    return [job(key, [*range(900), *[key] * 100], room=room) for key in range(2000, 2010)]


def test_a_shared_cache_holds_what_runs_at_once_with_the_common_prefix_counted_once() -> None:
    # The shared prefix, then all tokens of the first job and the own tokens of three more; in blocks of 256.
    assert chosen(prompts(room=8), good_kv_slots=9999) == Cache(whole_blocks(900 + 1008 + 3 * 108))
    assert chosen(prompts(room=8), good_kv_slots=20) == Cache(1024)  # never less than the longest needs
    assert chosen(prompts(room=8), parallel=1, good_kv_slots=1) == Cache(1024)


def test_streams_are_for_jobs_that_decode_more_than_they_prefill() -> None:
    prefill = 900 + 10 * 100
    assert chosen(prompts(room=prefill // 10)).streams == 0
    longest = whole_blocks(1000 + prefill // 10 + 1)
    # Four running jobs, and two streams for shared prefixes.
    assert chosen(prompts(room=prefill // 10 + 1)) == Cache(6 * longest, streams=6)


@pytest.mark.parametrize(("limit", "together"), [(3, 3), (4, 4), (6, 6), (7, 7), (9, 8), (12, 10)])
def test_streams_are_filled_in_few_waves_of_whole_fours(limit: int, together: int) -> None:
    cache = chosen(prompts(room=280), parallel=limit)
    assert cache.streams == together + 2
    assert cache.parallel(ScriptedBackend({})) == together


def test_there_are_as_many_streams_as_fit() -> None:
    assert chosen(prompts(room=280), stream_kv_slots=5 * 1280) == Cache(5 * 1280, streams=5)


def test_a_long_job_does_not_take_the_streams_from_the_short_ones() -> None:
    backend = limited(parallel=8)
    short = prompts(room=280)
    # Streams of its length would be only two.
    long = job(0, range(4000), room=280)
    assert cache_for([long, *short], backend) == (Cache(10 * 1280, streams=10), short, [long])
    assert cache_for([long], backend) == (Cache(whole_blocks(long.kv_slots)), [long], [])


def test_jobs_of_several_lengths_share_streams_where_that_takes_no_more_waves() -> None:
    longer = [job(key, [*range(900), *[key] * 400], room=280) for key in range(3000, 3004)]
    # Fourteen jobs in two waves; partitioned by length they would need three.
    assert chosen([*prompts(room=280), *longer], parallel=8, good_kv_slots=2000).streams == 7 + 2


def test_a_long_shared_prefix_is_not_copied_into_few_streams() -> None:
    common = [job(key, [*range(3000), *[key] * 100], room=600) for key in range(5000, 5010)]
    # Four at once in a shared cache, two in streams; with more KV slots, eight in streams.
    assert chosen(common, parallel=8, good_kv_slots=4096).streams == 0
    assert chosen(common, parallel=8, good_kv_slots=4096, stream_kv_slots=60000).streams == 8 + 2


@pytest.mark.parametrize(
    ("shape", "kv_slots"),
    [
        (QWEN2, 32768),
        (replace(QWEN2, layers=32, width=4096, heads=32, kv_heads=8), 16384),
        (replace(QWEN2, layers=32, width=4096, heads=32, kv_heads=32), 4096),
        (MAMBA, 0),
    ],
    ids=["small", "8B", "7B, each head with its own keys", "no attention"],
)
def test_streams_of_large_models_take_no_more_memory(tmp_path: Path, shape: Shape, kv_slots: int) -> None:
    model = Model(name="large", path=write_vocab_only(tmp_path / "large.gguf", shape))
    with closing(DryBackend(model, context_limit=4096)) as backend:
        assert backend.stream_kv_slots == kv_slots


@pytest.mark.parametrize("template", [CHATML, None])
def test_replies_of_a_model_without_weights_end_at_once(tmp_path: Path, template: str | None) -> None:
    shape = replace(QWEN2, chat_template=template)
    model = Model(name="dry", path=write_vocab_only(tmp_path / "dry.gguf", shape))
    with closing(DryBackend(model, context_limit=4096)) as backend:
        (response,) = Engine(backend).run([generate("Why?", 50)])
    assert (response.text, response.usage.decoded_tokens) == ("", 1)


@pytest.mark.parametrize(
    ("changed", "jobs"),
    [
        ({"stream_kv_slots": 4 * 1280 - 1}, prompts(room=280)),
        ({"stream_kv_slots": 0}, prompts(room=280)),
        ({"parallel": 1}, prompts(room=280)),
        ({}, prompts(room=2000)[:1]),
        ({}, [*prompts(room=280), job(0, range(10), tails=((1, 2),))]),
    ],
    ids=["no two fit", "there are none", "one at a time", "one alone", "continuations share a prompt"],
)
def test_otherwise_the_cache_is_shared(changed: dict[str, int], jobs: list[Job]) -> None:
    assert chosen(jobs, **changed).streams == 0


@pytest.mark.parametrize("shape", [LLAMA_BOS, QWEN2, GEMMA3_SWA], ids=lambda shape: str(shape.name))
def test_streams_give_the_answers_of_a_shared_cache(shape: Shape, open_backend: OpenBackend) -> None:
    divided, shared = open_backend(shape), open_backend(shape)
    shared.stream_kv_slots = 0
    requests = [generate(question, LONG_ANSWER - 9 * (number % 7)) for number, question in enumerate(issues(40))]
    responses = Engine(divided).run(requests)
    # Two waves of twenty.
    assert [streams for _, streams in divided.opened] == [20 + 2]
    assert cost(responses).cached_tokens == cost(Engine(shared).run(requests)).cached_tokens > 20 * 39
    both = divided.rows_after.keys() & shared.rows_after.keys()
    assert len(both) > 40
    for context in both:
        row, other = divided.rows_after[context], shared.rows_after[context]
        assert np.abs(row - other).max() < NOISE
        second, best = np.sort(other)[-2:]
        assert row.argmax() == other.argmax() or best - second < NOISE


def test_a_long_prompt_is_computed_after_the_short_ones(open_backend: OpenBackend) -> None:
    backend = open_backend(QWEN2)
    long = generate("The server crashes when the user saves a file. " * 300, LONG_ANSWER)
    requests = [generate(question, LONG_ANSWER) for question in issues(20, max_words=10)]
    requests.insert(3, long)
    responses = Engine(backend).run(requests)
    assert [streams for _, streams in backend.opened] == [20 + 2, 0]
    assert timeless([responses[3]]) == timeless(one_at_a_time(open_backend(QWEN2), [long]))
    del requests[3], backend.opened[:]
    assert timeless(Engine(backend).run(requests)) == timeless([*responses[:3], *responses[4:]])


def test_equal_requests_get_equal_responses_from_streams(open_backend: OpenBackend) -> None:
    backend = open_backend(QWEN2)
    engine = Engine(backend)
    requests = [generate(question, LONG_ANSWER, temperature=0.8, seed=3) for question in issues(20)]
    first = engine.run(requests)
    engine.reset()
    engine.run([score(question, "A", "B") for question in issues(3)])
    engine.reset()
    assert timeless(engine.run(requests)) == timeless(first)
    assert [streams > 0 for _, streams in backend.opened] == [True, False, True]


def test_a_score_that_arrives_late_waits_until_the_streams_are_done(open_backend: OpenBackend) -> None:
    backend = open_backend(QWEN2)
    engine = Engine(backend)
    tickets = [engine.submit(generate(question, LONG_ANSWER)) for question in issues(3)]
    done = engine.step()
    late = engine.submit(score(issues(1)[0], "A", "B"))
    while not engine.idle:
        done.update(engine.step())
    assert done.keys() == {*tickets, late}
    assert timeless([done[late]]) == timeless(Engine(open_backend(QWEN2)).run([score(issues(1)[0], "A", "B")]))


def test_a_recurrent_model_has_no_streams(open_backend: OpenBackend) -> None:
    backend = open_backend(MAMBA)
    Engine(backend).run([generate(question, LONG_ANSWER) for question in issues(3)])
    assert [streams for _, streams in backend.opened] == [0]
