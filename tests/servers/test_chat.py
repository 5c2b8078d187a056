from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import EngineError, Generate, Message, Prompt
from pytest_puma.servers.chat import body_of, read_reply
from pytest_puma.servers.kind import KINDS, OLLAMA, OTHER, ServerKind
from tests.servers.stub import answer

LLAMA, VLLM, SGLANG, OPENAI = KINDS
#: Thoughts as parts of a content: Mistral's form, and Databricks's.
THOUGHT = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}], "closed": True}
]
SUMMARY = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]


def request(**parts: Any) -> Generate:
    prompt = {name: parts.pop(name) for name in ("prefill", "stop") if name in parts}
    return Generate(
        prompt=Prompt(messages=(Message(role="user", content="Hi"),), **prompt), **{"max_tokens": 9, **parts}
    )


@pytest.mark.parametrize(("kind", "off"), [(LLAMA, 0), (VLLM, -1), (SGLANG, -1)])
def test_all_of_sampling_is_sent_to_a_server_with_defaults_of_its_own(kind: ServerKind, off: int) -> None:
    body = body_of(request(temperature=0.5, seed=2**40 + 3), "m", kind)
    parts = (body["temperature"], body["top_p"], body["top_k"], body["min_p"], body["seed"], body["presence_penalty"])
    assert parts == (0.5, 1.0, off, 0.0, 3, 0.0)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body_of(request(top_k=7), "m", kind)["top_k"] == 7


@pytest.mark.parametrize("kind", [OPENAI, OLLAMA, OTHER])
def test_a_hosted_server_gets_no_field_that_it_may_refuse(kind: ServerKind) -> None:
    limit = "max_completion_tokens" if kind is OPENAI else "max_tokens"
    messages = [{"role": "user", "content": "Hi"}]
    assert body_of(request(), "m", kind) == {"model": "m", "messages": messages, limit: 9, "temperature": 0.0}
    sampled = body_of(request(temperature=1.0, seed=4, stop=tuple("abcdef")), "m", kind)
    assert sampled | {"seed": 4, "top_p": 1.0, "stop": ["a", "b", "c", "d"]} == sampled


def test_the_beginning_of_a_reply_is_its_last_message() -> None:
    body = body_of(request(prefill="It is"), "m", VLLM)
    assert body["messages"][-1] == {"role": "assistant", "content": "It is"}
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)


@pytest.mark.parametrize(
    ("parts", "text", "finish"),
    [
        ({}, "one two", "stop"),
        ({"finish_reason": "length"}, "one two", "context"),
        ({"message": {"content": None, "reasoning_content": "hm"}}, "<think>hm</think>", "stop"),
        ({"message": {"content": "yes", "reasoning": "hm"}}, "<think>hm</think>yes", "stop"),
        ({"message": {"content": "", "reasoning": "hm"}, "finish_reason": "length"}, "<think>hm", "context"),
        ({"message": {"content": "a\n\nQ: b", "reasoning": "Q: what?"}}, "<think>Q: what?</think>a\n\n", "stop"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", "stop"),
        ({"message": {"content": None, "refusal": "I cannot."}}, "I cannot.", "stop"),
        (
            {"message": {"content": [*THOUGHT, {"type": "text", "text": "so "}, {"type": "text", "text": "yes"}]}},
            "<think>hm</think>so yes",
            "stop",
        ),
        ({"message": {"content": [*SUMMARY, {"type": "text", "text": "yes"}]}}, "<think>hm</think>yes", "stop"),
        ({"message": {"content": THOUGHT}, "finish_reason": "length"}, "<think>hm", "context"),
        ({"message": {"content": [{"type": "text", "text": "no"}, {"type": "image", "url": "x"}]}}, "no", "stop"),
        ({"finish_reason": "model_context_window_exceeded"}, "one two", "context"),
        ({"finish_reason": "end_turn"}, "one two", "stop"),
    ],
)
def test_a_reply_is_read(parts: dict[str, Any], text: str, finish: str) -> None:
    reply = read_reply(answer("one two", choice=parts), request(stop=("Q: ", "R:")), 1.5)
    assert (reply.response.text, reply.response.finish) == (text, finish)
    assert reply.response.usage.seconds == 1.5
    assert reply.withheld == (parts.get("finish_reason") == "content_filter")


def test_the_beginning_of_a_reply_is_no_part_of_it() -> None:
    asked = request(prefill="It is", stop=("It",))
    assert read_reply(answer("It is fine"), asked, 0.0).response.text == " fine"
    assert read_reply(answer(" fine"), asked, 0.0).response.text == " fine"


def test_a_reply_at_the_maximum_of_tokens_is_cut_off() -> None:
    reply = read_reply(answer("x", choice={"finish_reason": "length"}), request(max_tokens=2), 0.0)
    assert reply.response.finish == "length"


def test_log_probabilities_of_the_written_tokens_are_read() -> None:
    content = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -9999.0}]
    reply = read_reply(answer("ab", choice={"logprobs": {"content": content}}), request(logprobs=True), 0.0)
    assert reply.response.logprobs == (-0.5, -9999.0)
    with pytest.raises(EngineError, match="the server sends no log-probabilities"):
        read_reply(answer("ab"), request(logprobs=True), 0.0)


def test_cached_tokens_are_counted() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
    reply = read_reply(answer("x", usage=usage), request(), 0.0)
    assert (reply.response.usage.prompt_tokens, reply.response.usage.cached_tokens, reply.measured) == (9, 4, True)


@pytest.mark.parametrize("content", [[], {}, {"choices": []}, {"choices": [{"text": "old"}]}, {"choices": "no"}, "no"])
def test_what_is_no_reply_is_an_error_that_shows_it(content: Any) -> None:
    with pytest.raises(EngineError, match=r"the answer of the server is .*; expected a message in choices"):
        read_reply(content, request(), 0.0)
