"""Scores on real llama.cpp against a full softmax over plainly computed logits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_puma.core import Score, Step
from pytest_puma.engine.engine import Engine
from tests.engine.ask import cost, issues, prompt, score
from tests.engine.cache import NOISE, Context, RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS, MAMBA, Shape

LABELS = ("Critical", "Major", "Minor", "Trivial", "Blocker of all")


def tokens_of(backend: RecordedBackend, request: Score) -> tuple[Context, list[Context]]:
    """The shared prefix of all continuations, and the tokens of each with its end of turn; slowly, token by token."""
    plain = backend.encode(request.prompt)
    full = [backend.encode(request.prompt, text) for text in request.continuations]
    boundary = 0
    while all(other[: boundary + 1] == plain[: boundary + 1] for other in full) and boundary < len(plain):
        boundary += 1
    return tuple(plain[:boundary]), [(*other[boundary:], backend.ends_of_turn[0]) for other in full]


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    row = logits.astype(np.float64)
    return np.asarray(row - row.max() - np.log(np.sum(np.exp(row - row.max()))))


def plain_scores(backend: RecordedBackend, request: Score) -> list[float]:
    """Each continuation in an empty cache, one token at a time."""
    before, tails = tokens_of(backend, request)
    sums = []
    for tail in tails:
        backend.open(512)
        whole = [*before, *tail]
        rows = [backend.decode([Step(0, place, [token], 0)])[0].copy() for place, token in enumerate(whole[:-1])]
        targets = range(len(before), len(whole))
        sums.append(sum(float(log_softmax(rows[place - 1])[whole[place]]) for place in targets))
    return sums


def scores_by_rows(backend: RecordedBackend, request: Score) -> list[float]:
    """The sums over the rows of the engine: they agree if each row is paired with the right token."""
    before, tails = tokens_of(backend, request)
    return [
        sum(float(log_softmax(backend.rows_after[(*before, *tail[:place])])[token]) for place, token in enumerate(tail))
        for tail in tails
    ]


def test_a_score_alone_is_the_plain_full_softmax(shape: Shape, open_backend: OpenBackend) -> None:
    # Prompt and continuation in two decodes, like the engine: the same kernels, so the same bits.
    backend, reference = open_backend(shape), open_backend(shape)
    request = score("How severe?", "Critical of all")
    response = Engine(backend).run([request])[0]
    before, (tail,) = tokens_of(reference, request)
    reference.open(512)
    first = reference.decode([Step(0, 0, before, len(before) - 1)])[0].copy()
    rows = [first, *reference.decode([Step(0, len(before), tail[:-1], 0)])]
    expected = sum(float(log_softmax(row)[token]) for row, token in zip(rows, tail, strict=True))
    assert response.logprobs == pytest.approx((expected,), abs=1e-3)
    assert response.finish == "scored"


def test_scores_of_a_batch_pair_every_token_with_its_row(backend: RecordedBackend) -> None:
    requests = [score(question, *LABELS) for question in issues(8)]
    responses = Engine(backend).run(requests)
    assert cost(responses).cached_tokens > 0
    for request, response in zip(requests, responses, strict=True):
        assert response.logprobs == pytest.approx(scores_by_rows(backend, request), abs=1e-3)


def test_scores_of_a_batch_are_those_of_one_token_at_a_time(shape: Shape, open_backend: OpenBackend) -> None:
    backend, reference = open_backend(shape), open_backend(shape)
    requests = [score(question, *LABELS) for question in issues(4)]
    responses = Engine(backend).run(requests)
    # Without attention both ways agree; with it each token may add the noise of its row, rarely all in one direction.
    per_token = 1e-4 if shape == MAMBA else NOISE
    for request, response in zip(requests, responses, strict=True):
        _, tails = tokens_of(backend, request)
        limits = [per_token * len(tail) for tail in tails]
        off = np.abs(np.array(response.logprobs) - plain_scores(reference, request))
        assert (off <= limits).all()


@pytest.mark.parametrize(
    ("prefill", "continuations", "merged"),
    [
        ("Answer: 1", ("3", "0", " or more"), {" 13", " 10", " 1"}),
        ("Answer: [A", ("B", "]"), {"AB", "A"}),
        ("Answer:", (" Critical", " Major"), {" Critical", " Major"}),
    ],
)
def test_a_token_that_merges_with_the_prompt_is_scored_and_all_share_one_boundary(
    shape: Shape, open_backend: OpenBackend, prefill: str, continuations: tuple[str, ...], merged: set[str]
) -> None:
    backend, reference = open_backend(shape), open_backend(shape)
    request = score(prompt("How many?", prefill=prefill), *continuations)
    response = Engine(backend).run([request])[0]
    before, tails = tokens_of(backend, request)
    assert {backend.piece(tail[0]).decode() for tail in tails} == merged
    assert response.usage.prompt_tokens == len(before)
    assert response.logprobs == pytest.approx(scores_by_rows(backend, request), abs=1e-3)
    limits = [NOISE * len(tail) for tail in tails]
    assert (np.abs(np.array(response.logprobs) - plain_scores(reference, request)) <= limits).all()


def test_a_token_also_merges_if_a_sample_spells_a_control_token(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    tokens = backend.encode(prompt("<|im_start|> crashes", prefill="Answer: 1"), "3")
    assert backend.piece(tokens[-1]) == b" 13"


def test_one_token_answers_share_the_row_of_the_prompt(open_backend: OpenBackend) -> None:
    backend = open_backend(LLAMA_BOS)
    request = score("Which?", "A", "B", "C")
    response = Engine(backend).run([request])[0]
    before, tails = tokens_of(backend, request)
    assert [len(tail) for tail in tails] == [2, 2, 2]
    assert backend.simulated.fed == len(before) + 3
    assert response.usage.decoded_tokens == 3
    assert response.logprobs == pytest.approx(scores_by_rows(backend, request), abs=1e-6)


def test_an_answer_that_is_a_prefix_of_another_costs_nothing(open_backend: OpenBackend) -> None:
    backend, reference = open_backend(LLAMA_BOS), open_backend(LLAMA_BOS)
    request = score("How many?", "2", "1", "A", "13", "1", "A B C", "133")
    response = Engine(backend).run([request])[0]
    before, tails = tokens_of(backend, request)
    prefixes = {tail[:end] for tail in tails for end in range(1, len(tail))}
    fed = backend.simulated.fed - len(before)
    assert fed == response.usage.decoded_tokens == len(prefixes) < sum(len(tail) - 1 for tail in tails)
    assert response.logprobs[1] == response.logprobs[4]
    limits = [NOISE * len(tail) for tail in tails]
    assert (np.abs(np.array(response.logprobs) - plain_scores(reference, request)) <= limits).all()


def test_a_longer_answer_gains_nothing_from_its_prefix(open_backend: OpenBackend) -> None:
    # Each answer includes its end of turn: "1" is not a prefix of "13" but a whole answer.
    backend = open_backend(LLAMA_BOS)
    response = Engine(backend).run([score("How many?", "1", "13", "12", "2", "21")])[0]
    assert np.exp(response.logprobs).sum() < 1
    _, tails = tokens_of(backend, score("How many?", "1", "13"))
    assert {tail[-1] for tail in tails} == {backend.ends_of_turn[0]}


def test_in_the_plain_format_an_answer_ends_with_any_line_break(open_backend: OpenBackend) -> None:
    backend, reference = (open_backend(replace(LLAMA_BOS, chat_template=None)) for _ in range(2))
    request = score("How many?", "1", "13", "12")
    response = Engine(backend).run([request])[0]
    before, tails = tokens_of(reference, request)
    for tail, logprob in zip(tails, response.logprobs, strict=True):
        reference.open(512)
        whole = [*before, *tail[:-1]]
        rows = [log_softmax(reference.decode([Step(0, at, [token], 0)])[0]) for at, token in enumerate(whole)]
        words = sum(float(rows[at - 1][whole[at]]) for at in range(len(before), len(whole)))
        assert logprob == pytest.approx(words + np.logaddexp.reduce(rows[-1][list(backend.ends_of_turn)]), abs=NOISE)
    assert np.exp(response.logprobs).sum() < 1


@pytest.mark.parametrize("parallel", [1, 2])
def test_more_continuations_than_sequences_are_scored_one_after_the_other(
    shape: Shape, open_backend: OpenBackend, parallel: int
) -> None:
    backend = open_backend(shape, parallel=parallel)
    options = tuple(f"{number} points" for number in range(80))
    requests = [score(question, *options) for question in ("How many?", "How much?")]
    assert backend.sequences < len(options)
    for request, response in zip(requests, Engine(backend).run(requests), strict=True):
        # "4 points" and "40 points" begin alike: that row is computed twice, in different batches.
        assert response.logprobs == pytest.approx(scores_by_rows(backend, request), abs=NOISE)


def test_top_tokens_are_those_of_each_row(backend: RecordedBackend) -> None:
    requests = [replace(score(question, "Critical of"), top=8) for question in issues(4)]
    for request, response in zip(requests, Engine(backend).run(requests), strict=True):
        before, (tail,) = tokens_of(backend, request)
        rows = [log_softmax(backend.rows_after[(*before, *tail[:place])]) for place in range(len(tail))]
        assert len(response.top) == len(tail)
        for top, row in zip(response.top, rows, strict=True):
            best = np.argsort(-row, kind="stable")[:8]
            assert list(top.tokens) == best.tolist()
            assert list(top.logprobs) == pytest.approx(row[best].tolist(), abs=1e-3)
        assert response.logprobs == pytest.approx(scores_by_rows(backend, request), abs=1e-3)


def test_top_tokens_end_after_sixteen_places(backend: RecordedBackend) -> None:
    (response,) = Engine(backend).run([replace(score("How severe?", "Critical " * 40), top=4)])
    assert len(response.top) == 16
    assert response.usage.decoded_tokens == 15
