from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_puma.core import Message, Prompt, Score
from pytest_puma.servers.kind import KINDS, OLLAMA, OTHER, ServerKind
from pytest_puma.servers.verdict import read_verdict, verdict_body
from tests.servers.stub import answer

LLAMA, VLLM, _, OPENAI = KINDS
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


def test_a_verdict_is_asked_for_with_the_probable_tokens_under_a_grammar() -> None:
    body = verdict_body(Score(prompt=PROMPT, continuations=('"so"', "no")), "m", LLAMA)
    assert body["grammar"] == r'root ::= "\"so\"" | "no"'
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"], body["temperature"]) == (True, 50, 16, 0.0)
    assert "response_format" not in body


@pytest.mark.parametrize("kind", [VLLM, OPENAI, OLLAMA, OTHER], ids=lambda kind: kind.name)
def test_a_verdict_is_asked_for_by_a_json_schema_without_grammars(kind: ServerKind) -> None:
    body = verdict_body(Score(prompt=PROMPT, continuations=("yes", "kyllä")), "m", kind)
    assert "grammar" not in body
    assert (body.get("top_logprobs"), body.get("logprobs")) == ((20, True) if kind is VLLM else (None, None))
    assert body[kind.limit] == 32, "the answer and the object around it"
    assert body["response_format"]["type"] == "json_schema"
    described = body["response_format"]["json_schema"]
    Draft202012Validator.check_schema(described["schema"])
    allowed = Draft202012Validator(described["schema"])
    assert described["strict"] is True
    assert all(allowed.is_valid({"verdict": text}) for text in ("yes", "kyllä"))
    assert not any(allowed.is_valid(value) for value in ("yes", {}, {"verdict": "no"}, {"verdict": "yes", "more": 1}))


@pytest.mark.parametrize(
    ("text", "logprobs"),
    [
        ('{"verdict": "no"}', (-math.inf, 0.0)),
        ("Yes.", (0.0, -math.inf)),
        ("<think>yes</think>no", (-math.inf, 0.0)),
        ("It is short.", ()),
        ('{"verdict": "', ()),
        ("", ()),
    ],
)
def test_a_server_without_probable_tokens_writes_its_verdict(text: str, logprobs: tuple[float, ...]) -> None:
    request = Score(prompt=PROMPT, continuations=("yes", "no"))
    assert read_verdict(answer(text), request, OTHER, 1.0).response.logprobs == logprobs


def test_the_place_of_a_verdict_is_inside_its_object() -> None:
    tokens = [place(token, {token: 1.0}) for token in ('{"', "ver", "dict", '":', ' "')]
    tops = {"no": 0.6, "yes": 0.2, "verdict": 0.1}
    assert verdict('{"verdict": "no"}', *tokens, place("no", tops), place('"}', {'"}': 1.0})) == (0.2, 0.6)
    assert verdict('{"verdict":"no"}', *tokens[:4], place('"no', {'"no': 0.6, '"': 0.3, '"yes': 0.1})) == (0.1, 0.6)


def test_the_place_of_a_verdict_is_behind_the_thoughts() -> None:
    tokens = [place(token, {token: 1.0}) for token in ("<think>", "no", "</think>", "\n\n")]
    content = answer("no", choice={"logprobs": {"content": [*tokens, place("no", {"no": 0.7, "yes": 0.3})]}})
    content["choices"][0]["message"]["reasoning_content"] = "no"
    response = read_verdict(content, Score(prompt=PROMPT, continuations=("yes", "no")), VLLM, 1.0).response
    assert tuple(round(math.exp(logprob), 6) for logprob in response.logprobs) == (0.3, 0.7)


def test_an_article_is_no_verdict() -> None:
    tops = {"A": 0.5, "B": 0.3}
    assert verdict("A better one is B", place("A", tops), of=("A", "B", "C")) == ()
    assert verdict("A", place("A", tops), of=("A", "B", "C")) == (0.5, 0.3, 0.0)


def test_a_verdict_without_a_probability_among_the_tokens_is_the_written_one() -> None:
    assert verdict("no", place("no", {"no": 1.0}, logprob=-9999.0) | {"top_logprobs": []}) == (0.0, 1.0)


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
