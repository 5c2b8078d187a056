"""Generating on real llama.cpp: sampling, stop strings, grammars, log-probabilities."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pytest_puma.core import EngineError, Generate, Response
from pytest_puma.engine.engine import Engine
from tests.engine.ask import generate, issues, prompt, score, timeless
from tests.engine.cache import Context, RecordedBackend
from tests.engine.conftest import OpenBackend
from tests.tiny_gguf import LLAMA_BOS, LLAMA_NO_BOS, MAMBA, QWEN2, Shape

LABELS = 'root ::= "Critical" | "Major" | "Minor"'
SPELLED = ("Critical", "Major", "Minor")


@pytest.fixture
def llama(open_backend: OpenBackend) -> RecordedBackend:
    return open_backend(LLAMA_BOS)


def responses_to(backend: RecordedBackend, *requests: Generate) -> list[Response]:
    """The responses of a new engine."""
    engine = Engine(backend)
    return timeless(engine.run(requests))


def response_to(backend: RecordedBackend, request: Generate) -> tuple[Response, list[Context]]:
    """A single response, and the contexts after which its tokens were chosen."""
    backend.rows_after.clear()
    response = responses_to(backend, request)[0]
    return response, sorted(backend.rows_after, key=len)


def test_logprobs_are_those_of_the_full_softmax(backend: RecordedBackend) -> None:
    sampling: dict[str, Any] = {"temperature": 1.5, "top_k": 20, "seed": 3}
    for request in (generate("Which?", 20, logprobs=True), generate("Which?", 20, logprobs=True, **sampling)):
        response, contexts = response_to(backend, request)
        assert len(response.logprobs) == len(contexts) == response.usage.decoded_tokens
        # The token that followed a context is the last one of the next; the very last was not fed.
        for logprob, (context, following) in zip(response.logprobs, pairwise(contexts), strict=False):
            row = backend.rows_after[context].astype(np.float64)
            assert logprob == pytest.approx(row[following[-1]] - np.log(np.exp(row).sum()), abs=1e-6)


def test_text_is_spelled_by_the_tokens_and_invalid_bytes_are_replaced(backend: RecordedBackend) -> None:
    spelled = b""
    for number in range(4):
        response, contexts = response_to(backend, generate(f"Which? {number}", 24))
        tokens = [*contexts[-1][len(contexts[0]) :], int(backend.rows_after[contexts[-1]].argmax())]
        ended = response.finish == "stop"
        assert ended == backend.is_end(tokens[-1])
        assert not any(map(backend.is_end, tokens[:-1]))
        pieces = b"".join(map(backend.piece, tokens))
        assert response.text == pieces.decode("utf-8", errors="replace")
        spelled += pieces
    assert "\ufffd" in spelled.decode("utf-8", errors="replace")


@pytest.mark.parametrize("cut", [slice(1, 3), slice(2, 7), slice(4, 6), slice(0, 1)])
def test_a_stop_string_ends_the_text_wherever_tokens_cut_it(llama: RecordedBackend, cut: slice) -> None:
    grammar = 'root ::= "The server crashes when the user saves a file"'
    # Tokens of the tiny vocabulary are whole words or parts of them.
    plain = responses_to(llama, generate("Say it.", 64, grammar=grammar))[0].text
    words = plain.split(" ")
    stop = " ".join(words[cut])[1:] + " "
    request = generate(prompt("Say it.", stop=(stop,)), 64, grammar=grammar)
    response, _ = response_to(llama, request)
    assert response.text == plain[: plain.index(stop)]
    assert response.finish == "stop"


def test_a_stop_string_of_one_request_does_not_stop_another(llama: RecordedBackend) -> None:
    grammar = 'root ::= "one two three"'
    questions = [prompt("Count.", stop=stop) for stop in [("two",), (), (" ",)]]
    texts = [each.text for each in responses_to(llama, *(generate(each, 40, grammar=grammar) for each in questions))]
    assert texts == ["one ", "one two three", "one"]


@pytest.mark.parametrize("text", ["é", "日本", "a🙂b", "Größe"])
def test_characters_that_tokens_split_are_whole(llama: RecordedBackend, text: str) -> None:
    request = generate("Say it.", 30, grammar=f'root ::= "{text}"')
    assert [each.text for each in responses_to(llama, request, request)] == [text, text]


@pytest.mark.parametrize("temperature", [0.0, 1.0, 5.0])
def test_a_grammar_is_obeyed_and_its_end_is_the_end(backend: RecordedBackend, temperature: float) -> None:
    requests = [
        generate(question, 20, grammar=LABELS, temperature=temperature, seed=seed)
        for seed, question in enumerate(issues(6))
    ]
    for response in responses_to(backend, *requests):
        assert response.text in SPELLED
        assert response.finish == "stop"


def test_different_seeds_give_different_texts_under_a_grammar(llama: RecordedBackend) -> None:
    requests = [generate("Which?", 20, grammar=LABELS, temperature=30.0, seed=seed) for seed in range(30)]
    assert {each.text for each in responses_to(llama, *requests)} == set(SPELLED)


def test_a_greedy_grammar_takes_the_most_probable_token_that_it_allows(llama: RecordedBackend) -> None:
    response, contexts = response_to(llama, generate("Which?", 20, grammar='root ::= "A" | "B" | "C"'))
    row = llama.rows_after[contexts[0]]
    tokens = {letter: llama.encode(prompt("Which?"), letter)[-1] for letter in "ABC"}
    assert response.text == max("ABC", key=lambda letter: row[tokens[letter]])


def test_a_grammar_that_the_limit_cuts_off_ends_by_length(llama: RecordedBackend) -> None:
    response = responses_to(llama, generate("Say it.", 2, grammar='root ::= "The server crashes"'))[0]
    assert response.finish == "length"
    assert "The server crashes".startswith(response.text)


def test_requests_with_and_without_grammar_share_a_batch(llama: RecordedBackend) -> None:
    free, bound = generate("Which one?", 8), generate("Which two?", 20, grammar=LABELS)
    texts = [each.text for each in responses_to(llama, free, bound, free, bound)]
    assert texts[0] == texts[2] == responses_to(llama, free)[0].text
    assert texts[1] == texts[3] in SPELLED


@pytest.mark.parametrize("broken", ['rot ::= "a"', "root ::= nobody", 'root ::= "a', "no grammar", "root ::= [[["])
def test_a_broken_grammar_is_an_engine_error_and_harms_no_other_request(llama: RecordedBackend, broken: str) -> None:
    engine = Engine(llama)
    with pytest.raises(EngineError, match="grammar"):
        engine.run([generate("Which?", 3), generate("Which?", grammar=broken)])
    answers = engine.run([score("Which?", "A"), generate("Which?", 20, grammar=LABELS)])
    assert answers[0].finish == "scored"
    assert answers[1].text in SPELLED


@pytest.mark.parametrize("shape", [LLAMA_NO_BOS, MAMBA, QWEN2], ids=lambda shape: shape.name)
@pytest.mark.parametrize(
    "filters",
    [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"temperature": 1e-4}],
    ids=lambda filters: next(iter(filters)),
)
def test_sampling_from_the_best_token_alone_is_greedy(
    open_backend: OpenBackend, shape: Shape, filters: dict[str, Any]
) -> None:
    backend = open_backend(shape)
    greedy = responses_to(backend, generate("Which one is it?", 10))
    assert (
        responses_to(backend, generate("Which one is it?", 10, **({"temperature": 1.0, "seed": 9} | filters))) == greedy
    )


def test_seeds_make_samples_different_and_repeatable(backend: RecordedBackend) -> None:
    requests = [generate("Which one is it?", 10, temperature=1.0, seed=seed) for seed in range(8)]
    first = responses_to(backend, *requests)
    assert responses_to(backend, *requests) == first
    assert len({each.text for each in first}) >= 6


def test_equal_seeds_in_one_batch_give_equal_texts(open_backend: OpenBackend) -> None:
    # Without attention, logits do not depend on the place in the batch.
    requests = [generate("Which one is it?", 10, temperature=1.0, seed=4)] * 5
    assert len({each.text for each in responses_to(open_backend(MAMBA), *requests)}) == 1


def test_a_higher_temperature_samples_less_probable_tokens(llama: RecordedBackend) -> None:
    def surprise(temperature: float) -> float:
        requests = [generate("Which?", 1, temperature=temperature, seed=seed, logprobs=True) for seed in range(60)]
        return -float(np.mean([each.logprobs[0] for each in responses_to(llama, *requests)]))

    assert surprise(0.0) < surprise(1.0) < surprise(3.0)
