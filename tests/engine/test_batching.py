"""Contracts of the engine on real llama.cpp: batching changes the speed of an answer and nothing else."""

from __future__ import annotations

from array import array
from itertools import pairwise

import numpy as np
import psutil

from pytest_puma.core import Generate, Request, Step
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.engine import Engine
from tests.engine.ask import INSTRUCTIONS, cost, generate, issues, one_at_a_time, prompt, score, timeless
from tests.engine.cache import NOISE, RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import Shape

LABELS = ("Critical", "Major", "Minor", "Trivial")


def test_batched_text_is_the_text_of_one_at_a_time(shape: Shape, open_backend: OpenBackend) -> None:
    together, alone = open_backend(shape), open_backend(shape)
    requests = [generate(question, 16) for question in issues(24)]
    batched = Engine(together).run(requests)
    singles = one_at_a_time(alone, requests)
    assert cost(batched).cached_tokens > 20 * 23 > 0 == cost(singles).cached_tokens
    same = [one.text == other.text for one, other in zip(batched, singles, strict=True)]
    assert np.mean(same) >= 0.9
    both = together.rows_after.keys() & alone.rows_after.keys()
    assert len(both) > 0.9 * len(alone.rows_after)
    for context in both:
        row, other = together.rows_after[context], alone.rows_after[context]
        assert np.abs(row - other).max() < NOISE
        second, best = np.sort(other)[-2:]
        assert row.argmax() == other.argmax() or best - second < NOISE


def mixed(count: int = 12) -> list[Request]:
    """Greedy, sampled and scored requests, alternating."""
    questions = iter(issues(count))
    requests: list[Request] = []
    for _ in range(count // 3):
        requests.append(generate(next(questions), 8, logprobs=True))
        requests.append(generate(next(questions), 8, temperature=1.0, top_p=0.9, seed=5, logprobs=True))
        requests.append(score(next(questions), *LABELS))
    return requests


def test_equal_requests_get_equal_responses(backend: RecordedBackend) -> None:
    engine = Engine(backend)
    first = engine.run(mixed())
    engine.reset()
    assert timeless(engine.run(mixed())) == timeless(first)


def test_the_order_of_requests_changes_nothing_but_the_order_of_responses(backend: RecordedBackend) -> None:
    engine, requests = Engine(backend), mixed()
    first = timeless(engine.run(requests))
    order = np.random.default_rng(0).permutation(len(requests)).tolist()
    engine.reset()
    assert timeless(engine.run([requests[place] for place in order])) == [first[place] for place in order]


def test_usage_accounts_for_every_token_that_was_decoded(backend: RecordedBackend) -> None:
    requests = mixed(18)
    responses = Engine(backend).run(requests)
    # The last token of a text is not fed back; a score counts exactly those that were.
    texts = sum(isinstance(request, Generate) for request in requests)
    usage = cost(responses)
    assert usage.prompt_tokens - usage.cached_tokens + usage.decoded_tokens - texts == backend.simulated.fed


def test_each_shared_prefix_is_computed_once(backend: RecordedBackend) -> None:
    prompts = [prompt(f"Issue {number}", system=INSTRUCTIONS) for number in range(10, 40)]
    usage = cost(Engine(backend).run([generate(question, 1) for question in prompts]))
    tokens = sorted(array("i", backend.encode(question)) for question in prompts)
    shared = min(common_prefix(left, right) for left, right in pairwise(tokens))
    assert shared > 40
    assert usage.prompt_tokens - usage.cached_tokens == shared + sum(len(each) - shared for each in tokens)


def test_five_hundred_prompts_leak_neither_memory_nor_kv_slots(shape: Shape, open_backend: OpenBackend) -> None:
    backend = open_backend(shape, parallel=64)
    backend.records_rows = False
    engine = Engine(backend)
    prompts = issues(500, max_words=12)
    requests = [
        score(question, *LABELS) if number % 5 == 0 else generate(question, 3)
        for number, question in enumerate(prompts)
    ]
    sizes = []
    for _ in range(2):
        engine.reset()
        engine.run(requests)
        sizes.append(psutil.Process().memory_info().rss)
    # Measured: at most 0.13 MB.
    assert sizes[1] - sizes[0] < 2e6
    assert backend.max_steps >= 64
    # The scheduler has every KV slot again: a prompt that fills the cache needs no new one.
    opened, kv_slots = len(backend.opened), backend.opened[-1][0]
    filling = prompt("~" * (kv_slots - len(backend.encode(prompt("~")))))
    assert len(backend.encode(filling)) == kv_slots - 1
    engine.run([generate(filling, 1)])
    assert len(backend.opened) == opened
    engine.reset()
    assert backend.simulated.in_use == 0
    # llama.cpp refuses the first position of a sequence that is not empty.
    for sequence in range(backend.sequences):
        backend.decode([Step(sequence, 0, [1], 0)])
