from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_puma.core import Message, Prompt, Score
from pytest_puma.servers.kind import KINDS
from pytest_puma.servers.verdict import read_verdict, verdict_body
from tests.servers.stub import answer

LLAMA, VLLM, *_ = KINDS
PROMPT = Prompt(messages=(Message(role="user", content="Is it short?"),))


def place(token: str, tops: Mapping[str, float], logprob: float | None = None) -> dict[str, Any]:
    listed = [{"token": top, "logprob": math.log(chance)} for top, chance in tops.items()]
    return {"token": token, "logprob": math.log(tops[token]) if logprob is None else logprob, "top_logprobs": listed}


def verdict(text: str, *places: dict[str, Any], of: tuple[str, ...] = ("yes", "no")) -> tuple[float, ...]:
    request = Score(prompt=PROMPT, continuations=of)
    content = answer(text, choice={"logprobs": {"content": list(places)}})
    response = read_verdict(content, request, VLLM, 1.0).response
    assert (response.text, response.finish) == (text, "scored")
    return tuple(round(math.exp(logprob), 6) for logprob in response.logprobs)


def test_a_verdict_is_asked_for_with_the_probable_tokens() -> None:
    body = verdict_body(Score(prompt=PROMPT, continuations=('"so"', "no")), "m", LLAMA)
    assert body["grammar"] == r'root ::= "\"so\"" | "no"'
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"], body["temperature"]) == (True, 50, 16, 0.0)
    assert "grammar" not in verdict_body(Score(prompt=PROMPT, continuations=("a", "b")), "m", VLLM)


def test_all_spellings_of_an_answer_count() -> None:
    tops = {"yes": 0.4, " Yes": 0.2, "**": 0.1, "No": 0.15, "n": 0.05, "maybe": 0.1}
    assert verdict("yes", place("yes", tops)) == (0.6, 0.2)


def test_marks_before_the_answer_are_passed_over() -> None:
    assert verdict("**no**", place("**", {"**": 0.9}), place("no", {"no": 0.7, "yes": 0.3})) == (0.3, 0.7)


@pytest.mark.parametrize(("text", "expected"), [("10", (0.0, 0.2, 0.8)), ("1", (0.8, 0.2, 0.0))])
def test_a_token_that_begins_two_answers_is_that_of_the_one_written(text: str, expected: tuple[float, ...]) -> None:
    assert verdict(text, place("1", {"1": 0.8, "2": 0.2}), of=("1", "2", "10")) == expected


def test_a_token_that_a_grammar_chose_is_among_them() -> None:
    assert verdict("no", place("no", {"The": 0.9, "yes": 0.05}, logprob=math.log(0.01))) == (0.05, 0.01)


def test_a_reply_without_an_answer_has_no_verdict() -> None:
    assert verdict("Well", place("Well", {"Well": 1.0})) == ()
    assert verdict("...", place("...", {"...": 1.0})) == ()
