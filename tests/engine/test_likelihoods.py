"""Log-probabilities of continuations with and without their end, on real llama.cpp."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pytest_puma.core import Score, Step
from pytest_puma.engine.encoding import encoded
from pytest_puma.engine.engine import Engine
from tests.engine.ask import issues, prompt, score
from tests.engine.cache import NOISE, RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.engine.test_scoring import log_softmax, tokens_of
from tests.tiny_gguf import LLAMA_BOS, Shape

LABELS = ("Critical", "Major", "Minor", "A B C", "A B", "A", "13", "133")
#: Prompts whose last token merges with the continuation, or does not.
BOUNDARIES = pytest.mark.parametrize(
    ("prefill", "continuations"),
    [
        ("Answer: 1", ("3", "0", " or more")),
        ("Answer: [A", ("B", "]")),
        ("Answer:", (" Critical", " Major", " 13")),
    ],
)
CHATS = pytest.mark.parametrize("chat", [True, False])


def words(request: Score) -> Score:
    """The same request without the ends."""
    return replace(request, ends=False)


def row_by_row(backend: RecordedBackend, request: Score) -> list[tuple[float, float, int, bool]]:
    """Total, end, tokens and greedy of each continuation: in an empty cache, one token after the other."""
    before, tails = tokens_of(backend, request)
    likelihoods = []
    for *tail, _ in tails:
        backend.open(512)
        whole = [*before, *tail]
        rows = [log_softmax(backend.decode([Step(0, place, [token], 0)])[0]) for place, token in enumerate(whole)]
        own = rows[len(before) - 1 :]
        total = sum(float(row[token]) for row, token in zip(own, tail, strict=False))
        end = float(np.logaddexp.reduce(own[-1][list(backend.ends_of_turn)]))
        greedy = all(int(row.argmax()) == token for row, token in zip(own, tail, strict=False))
        likelihoods.append((total, end, len(tail), greedy))
    return likelihoods


@CHATS
@BOUNDARIES
def test_likelihoods_are_those_of_one_row_after_the_other(
    shape: Shape, open_backend: OpenBackend, prefill: str, continuations: tuple[str, ...], *, chat: bool
) -> None:
    backend, reference = open_backend(shape), open_backend(shape)
    ended = score(prompt("How many?", prefill=prefill, chat=chat), *continuations)
    with_end, without = Engine(backend).run([ended, words(ended)])
    expected = row_by_row(reference, ended)
    assert without.logprobs == tuple(each.total for each in without.likelihoods)
    for index, (total, end, tokens, greedy) in enumerate(expected):
        one, other = with_end.likelihoods[index], without.likelihoods[index]
        assert one.end is not None
        assert other.end is None
        assert (one.tokens, one.greedy) == (other.tokens, other.greedy) == (tokens, greedy)
        assert max(abs(one.total - total), abs(other.total - total)) <= NOISE * tokens
        assert abs(one.end - end) <= NOISE
        assert with_end.logprobs[index] == one.total + one.end


def test_the_best_tokens_in_a_row_are_greedy(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    requests = [score(each, *(chr(code) for code in range(33, 127))) for each in issues(6)]
    for request, response in zip(requests, Engine(backend).run(requests), strict=True):
        before, tails = tokens_of(backend, request)
        best = int(backend.rows_after[before].argmax())
        assert [each.greedy for each in response.likelihoods] == [tail[0] == best for tail in tails]
    assert any(each.greedy for each in response.likelihoods)


def test_the_same_text_has_the_same_log_probability_wherever_its_prompt_was_cut(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    cuts = ("Answer: 1", "3"), ("Answer:", " 13")
    for ends in (True, False):
        requests = [
            Score(prompt=prompt("How many?", prefill=prefill), continuations=(text,), ends=ends)
            for prefill, text in cuts
        ]
        merged, unmerged = (Engine(backend).run([request])[0] for request in requests)
        assert merged.likelihoods == unmerged.likelihoods
        assert merged.likelihoods[0].tokens == 1


def test_without_the_end_one_token_costs_nothing_beyond_the_prompt(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    with_end = Engine(backend).run([score("Which?", "A", "B", "C")])[0]
    request = words(score("Which?", "A", "B", "C"))
    response = Engine(backend).run([request])[0]
    assert backend.simulated.fed == response.usage.prompt_tokens == len(backend.encode(request.prompt))
    assert response.usage.decoded_tokens == 0
    assert [each.total for each in response.likelihoods] == [each.total for each in with_end.likelihoods]


@pytest.mark.parametrize("parallel", [1, 3])
def test_without_the_end_only_prefixes_of_other_tokens_are_computed(
    shape: Shape, open_backend: OpenBackend, parallel: int
) -> None:
    backend = open_backend(shape, parallel=parallel)
    requests = [words(score(each, *LABELS)) for each in issues(5)]
    responses = Engine(backend).run(requests)
    for request, response in zip(requests, responses, strict=True):
        asked = encoded(backend, request)
        before, tails = asked.tokens, asked.tails
        rows = [[log_softmax(backend.rows_after[(*before, *tail[:at])]) for at in range(len(tail))] for tail in tails]
        sums = [
            sum(float(row[token]) for row, token in zip(*each, strict=True)) for each in zip(rows, tails, strict=True)
        ]
        assert response.logprobs == pytest.approx(sums, abs=1e-3)
        assert response.usage.decoded_tokens == len({tail[:at] for tail in tails for at in range(1, len(tail))})


@CHATS
def test_scores_with_and_without_ends_share_a_batch_and_their_prompt(open_backend: OpenBackend, *, chat: bool) -> None:
    backend = open_backend(LLAMA_BOS)
    requests = [score(replace(question, chat=chat), "A", "13", "A B") for question in issues(4)]
    mixed = Engine(backend).run([request for each in requests for request in (each, words(each))])
    assert all(each.usage.cached_tokens > 0 for each in mixed[1:])
    for one, other in zip(mixed[::2], mixed[1::2], strict=True):
        off = np.subtract([each.total for each in one.likelihoods], [each.total for each in other.likelihoods])
        assert np.abs(off).max() <= NOISE


def test_a_last_token_that_is_not_computed_may_lie_beyond_the_context(open_backend: OpenBackend) -> None:
    backend = open_backend(replace(LLAMA_BOS, context=256))
    score_texts = partial(score, prompt("#" * (257 - len(backend.encode(prompt("#"))))))
    assert len(backend.encode(score_texts("A").prompt)) == 256
    requests = [score_texts("A"), words(score_texts("A")), words(score_texts("A", "A B"))]
    assert [each.finish for each in Engine(backend).run(requests)] == ["overflow", "scored", "overflow"]
