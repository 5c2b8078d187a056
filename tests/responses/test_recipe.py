"""Keys of the response store: what makes another key, what does not, and that they never change unnoticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Generate, Message, Penalties, Prompt, Request, Score
from pytest_puma.core.conversation import Role
from pytest_puma.responses.recipe import batch_key, engine_key, request_key, request_keys

PROMPT = Prompt(messages=(Message(role="user", content="How urgent?"),), prefill="Answer:", stop=("\n",))
GENERATE = Generate(prompt=PROMPT, max_tokens=9, temperature=0.7, seed=3, against=PROMPT)
GREEDY = replace(GENERATE, temperature=0.0)
SCORE = Score(prompt=PROMPT, continuations=(" A", " B"))
SIGNATURE = {"weights_sha256": "5a", "cpu": "AVX2 = 1", "threads": "2", "parallel": "16", "chat": "True"}

#: Another value of each field; a new field without one fails the tests.
OTHER: dict[str, Any] = {
    "prompt": replace(PROMPT, prefill="A:"),
    "max_tokens": 8,
    "temperature": 0.8,
    "top_p": 0.5,
    "top_k": 4,
    "min_p": 0.1,
    "seed": 4,
    "grammar": 'root ::= "A"',
    "logprobs": True,
    "thinks": False,
    "bias": {" A": 1.0},
    "penalties": Penalties(presence=0.5),
    "against": replace(PROMPT, prefill="A:"),
    "weight": 0.7,
    "continuations": (" B", " A"),
    "ends": False,
    "top": 256,
    "messages": (Message(role="system", content="How urgent?"),),
    "prefill": "",
    "stop": (),
    "chat": False,
}
#: Fields that a greedy reply does not depend on.
DRAWN = {"top_p", "top_k", "min_p", "seed"}


@pytest.mark.parametrize("request_", [GENERATE, replace(SCORE, continuations=(" A",))], ids=["generate", "score"])
def test_any_other_field_makes_another_key(request_: Request) -> None:
    for field in fields(request_):
        assert request_key(replace(request_, **{field.name: OTHER[field.name]})) != request_key(request_), field.name


@pytest.mark.parametrize("field", [field.name for field in fields(Prompt)])
def test_any_other_part_of_a_prompt_makes_another_key(field: str) -> None:
    other = replace(PROMPT, **{field: OTHER[field]})
    assert request_key(replace(GENERATE, prompt=other)) != request_key(GENERATE)
    # A score has no stop strings: nothing is written.
    assert (request_key(replace(SCORE, prompt=other)) == request_key(SCORE)) == (field == "stop")


def test_a_greedy_reply_does_not_depend_on_the_random_generator() -> None:
    for field in fields(GREEDY):
        same = request_key(replace(GREEDY, **{field.name: OTHER[field.name]})) == request_key(GREEDY)
        assert same == (field.name in DRAWN), field.name


def test_a_weight_of_no_second_prompt_does_not_matter() -> None:
    plain = replace(GENERATE, against=None)
    assert request_key(replace(plain, weight=0.7)) == request_key(plain)


def test_the_order_of_biased_texts_does_not_matter() -> None:
    one, other = (replace(GREEDY, bias=bias) for bias in ({" A": 1, " B": 2}, {" B": 2.0, " A": 1.0}))
    assert request_key(one) == request_key(other)
    assert request_key(replace(GREEDY, bias={})) == request_key(GREEDY)


def test_whole_numbers_and_floats_are_the_same() -> None:
    assert request_key(replace(GREEDY, temperature=0)) == request_key(GREEDY)
    one, other = replace(GENERATE, temperature=1, top_p=1, min_p=0), replace(GENERATE, temperature=1.0)
    assert request_key(one) == request_key(other)


pieces = st.sampled_from(["", "a", "aa", '"', "\ud800"])  # the last one is a lone surrogate
prompts = st.builds(
    Prompt,
    messages=st.lists(st.builds(Message, role=st.sampled_from(["system", "user"]), content=pieces), max_size=3).map(
        tuple
    ),
    prefill=pieces,
)


@given(prompts, prompts)
def test_messages_and_prefill_never_run_together(one: Prompt, other: Prompt) -> None:
    keys = [request_key(Generate(prompt=prompt, max_tokens=1)) for prompt in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def test_equal_requests_of_a_pass_are_numbered() -> None:
    counts = Counter[int]()
    first = request_keys([GENERATE, SCORE, GENERATE], counts, strict=False)
    assert first == [request_key(GENERATE, 0), request_key(SCORE, 0), request_key(GENERATE, 1)]
    assert request_keys([GENERATE], counts, strict=False) == [request_key(GENERATE, 2)]


def test_a_strict_answer_that_draws_nothing_has_no_number() -> None:
    keys = request_keys([GREEDY, GREEDY, SCORE, GENERATE, GENERATE], Counter(), strict=True)
    assert keys == [request_key(GREEDY)] * 2 + [request_key(SCORE)] + [request_key(GENERATE, each) for each in (0, 1)]


def test_threads_and_batch_sizes_do_not_belong_to_the_engine_but_the_build_and_the_context_do() -> None:
    key = engine_key(SIGNATURE, context_limit=4096, version=1)
    batching = {"threads", "parallel", "n_ctx", "chat"}
    for name in (*sorted(batching), "cpu", "new"):
        same = engine_key(SIGNATURE | {name: "9"}, context_limit=4096, version=1) == key
        assert same == (name in batching), name
    assert engine_key(SIGNATURE, context_limit=2048, version=1) != key
    assert engine_key(SIGNATURE, context_limit=4096, version=2) != key


def test_the_company_of_a_pass_is_everything_that_tips_near_ties() -> None:
    one, two = b"1" * 32, b"2" * 32
    key = batch_key(b"", [one, two], [one, two], SIGNATURE, parallel_streams=28)
    others = [
        batch_key(b"x", [one, two], [one, two], SIGNATURE, parallel_streams=28),
        batch_key(b"", [two, one], [two, one], SIGNATURE, parallel_streams=28),
        batch_key(b"", [one, two], [one], SIGNATURE, parallel_streams=28),
        batch_key(b"", [one, two], [], SIGNATURE, parallel_streams=28),
        batch_key(b"", [one, two], [one, two], SIGNATURE | {"threads": "4"}, parallel_streams=28),
        batch_key(b"", [one, two], [one, two], SIGNATURE, parallel_streams=14),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert batch_key(b"", [one, two], [one, two], SIGNATURE | {"cpu": "?"}, parallel_streams=28) == key


#: Keys of version 0.1.0, one a line. If one changes, all kept answers of users are worthless: see `recipe`.
GOLDEN = Path(__file__).with_name("golden_keys.txt")


def golden_keys() -> list[str]:
    """48 requests of all kinds, an engine and a company."""
    roles: tuple[Role, ...] = ("user", "system", "assistant")
    contents = ("How urgent?", "\ud800 \x00 \u00fc", "")
    prompts = [
        Prompt(messages=(Message(role=role, content=text),) * turns, prefill=prefill, chat=chat)
        for (role, text, turns), prefill, chat in product(
            zip(roles, contents, (1, 2, 0), strict=True), ("", "A:"), (True, False)
        )
    ]
    requests: list[Request] = [
        request
        for prompt in prompts
        for request in (
            Generate(prompt=prompt, max_tokens=5),
            Generate(prompt=prompt, max_tokens=5, temperature=0.7, top_p=0.9, seed=2**31, grammar="g", logprobs=True),
            Score(prompt=prompt, continuations=(" A", "\u00fc")),
        )
    ]
    keys = [request_key(request, number) for request, number in zip(requests, cycle((None, 0, 1, 7)))]
    keys += [request_key(replace(SCORE, ends=False), number) for number in range(48 - len(keys))]
    keys.append(engine_key(SIGNATURE, context_limit=4096, version=1))
    keys.append(batch_key(b"", [b"1" * 32, b"2" * 32], [b"2" * 32], SIGNATURE, parallel_streams=28))
    return [key.hex() for key in keys]


def test_keys_are_those_of_earlier_versions() -> None:
    keys = golden_keys()
    assert len({*keys}) == 50
    assert keys == GOLDEN.read_text(encoding="utf-8").split()
