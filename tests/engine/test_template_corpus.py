"""The chat templates of the models that people run: all of llama.cpp's collection."""

from __future__ import annotations

import os
import re
from itertools import product
from typing import Any

import pytest

from pytest_puma.core import Message, Prompt
from pytest_puma.engine.chat import ChatFormat, ChatTemplateError
from pytest_puma.engine.chat.template import ChatTemplate
from tests.engine.template_corpus import BOS, EOS, Reference, corpus

CORPUS = corpus()
#: Refuses every chat without a list of functions, as in transformers.
REFUSES = {"fireworks-ai-llama-3-firefunction-v2"}
needs_templates = pytest.mark.skipif(not CORPUS, reason="without the collection")
ASK = Message(role="user", content="How urgent is it?")
ANSWER = Message(role="assistant", content="Major")
CHATS = {
    "question": [ASK],
    "system": [Message(role="system", content="Be brief."), ASK],
    "history": [ASK, ANSWER, Message(role="user", content=" And\nnow? <b>{{ x }}</b> ")],
    "answered": [ASK, ANSWER],
}
#: The thoughts, or their marks alone, that a prompt may have before an answer and a history may not.
THOUGHTS = re.compile(
    r"<(?:\w+:)?think(?::\w+)?>.*?</(?:\w+:)?think(?::\w+)?>|</?(?:\w+:)?think(?::\w+)?>|"
    r"<\|START_THINKING\|>.*?<\|END_THINKING\|>|<\|channel>thought\n<channel\|>|"
    r"<\|think\|><\|end\|><\|begin\|>assistant|<\|open\|>think<\|sep\|><\|close\|>think<\|sep\|>|"
    r"Here are my reasoning steps:\n\n\[BEGIN FINAL RESPONSE\]\n",
    re.DOTALL,
)


def test_the_collection_is_whole() -> None:
    if not CORPUS and os.environ.get("PUMA_CHAT_TEMPLATES") != "required":
        pytest.skip("the chat templates are absent; fetch them with: python -m tools.chat_templates")
    assert len(CORPUS) >= 70
    assert {"Qwen-Qwen3-0.6B", "HuggingFaceTB-SmolLM3-3B", "GLM-4.6", "openai-gpt-oss-120b"} <= CORPUS.keys()


def turns(messages: list[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in messages]


@pytest.mark.parametrize("name", CORPUS)
def test_a_template_gives_the_text_of_plain_jinja2(name: str) -> None:
    ours, reference = ChatTemplate(CORPUS[name], bos=BOS, eos=EOS), Reference(CORPUS[name])
    switches: list[dict[str, Any]] = [{}, {"enable_thinking": False}, {"enable_thinking": True}]
    for (chat, messages), answer, variables in product(CHATS.items(), (True, False), switches):
        expected = reference.fill(turns(messages), answer=answer, variables=variables)
        try:
            found: str | None = ours.fill(turns(messages), answer=answer, variables=variables)
        except ChatTemplateError:
            found = None
        assert found == expected, (chat, answer, variables)


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - REFUSES))
@pytest.mark.parametrize("thinking", [False, True])
def test_a_label_is_scored_where_the_template_puts_an_answer(name: str, *, thinking: bool) -> None:
    chat = ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=thinking)
    scored = chat.render(Prompt(messages=(ASK,)), answer=True) + chat.joint
    history = chat._tried(ASK, ANSWER, answer=False).partition(ANSWER.content)[0]  # noqa: SLF001
    end = turn_of(scored)
    assert end == turn_of(history)
    assert end


def turn_of(text: str) -> str:
    """What a prompt has behind the question, or behind the turn after it, without thoughts and white space."""
    behind = THOUGHTS.sub("", text[text.rindex(ASK.content) + len(ASK.content) :])
    return "".join(behind.split())[-24:]


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - REFUSES))
def test_prompts_without_thinking_leave_no_thoughts_open(name: str) -> None:
    chat = ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=False)
    prompt = Prompt(messages=(ASK,))
    text = chat.render(prompt)
    assert ASK.content in text
    assert chat.thoughts(prompt).begun is False
    assert re.search(r"(<(?:\w+:)?think(?::\w+)?>|\[THINK\]|<\|START_THINKING\|>)\s*$", text) is None


#: Models that think before they answer, and what must be known of them for that.
THINKERS = {
    "Qwen-Qwen3-0.6B": ("<think>", "</think>", False),
    "Qwen3.5-4B": ("<think>", "</think>", True),
    "HuggingFaceTB-SmolLM3-3B": ("<think>", "</think>", False),
    "GLM-4.6": ("<think>", "</think>", False),
    "ByteDance-Seed-OSS": ("<seed:think>", "</seed:think>", False),
    "tencent-Hy3": ("<think:opensource>", "</think:opensource>", True),
    "MiniMax-M3": ("<mm:think>", "</mm:think>", True),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("<|START_THINKING|>", "<|END_THINKING|>", False),
    "Cohere2MoE": ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>", True),
    "google-gemma-4-31B-it": ("<|channel>thought", "<channel|>", False),
    "openai-gpt-oss-120b": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        False,
    ),
    "upstage-Solar-Open-100B": ("<|think|>", "<|end|><|begin|>assistant<|content|>", False),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("[THINK]", "[/THINK]", False),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ("<think>", "</think>", True),
}


@pytest.mark.parametrize("name", sorted(THINKERS.keys() & CORPUS.keys()))
def test_the_marks_of_thoughts_are_known(name: str) -> None:
    opening, closing, begun = THINKERS[name]
    thoughts = ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=True).thoughts(Prompt(messages=(ASK,)))
    assert (thoughts.open, thoughts.close.strip(), thoughts.begun) == (opening, closing, begun)


@pytest.mark.parametrize("name", sorted(THINKERS.keys() & CORPUS.keys()))
def test_thinking_on_and_off_differ_or_the_reason_is_a_note(name: str) -> None:
    prompts = set()
    for thinking in (False, True):
        chat = ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=thinking)
        prompts.add(chat.render(Prompt(messages=(ASK,))))
    assert len(prompts) == 2 or chat.notes


@needs_templates
@pytest.mark.parametrize(
    ("name", "effort"),
    [("openai-gpt-oss-120b", "low"), ("tencent-Hy3", "low"), ("Kimi-K3", "low"), ("muse-glimmer", "low")],
)
def test_an_effort_reaches_the_prompt(name: str, effort: str) -> None:
    chats = [ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=True, effort=word) for word in (effort, None)]
    first, second = (chat.render(Prompt(messages=(ASK,))) for chat in chats)
    assert first != second
    assert effort in first
    assert chats[0].notes == ()


@needs_templates
def test_an_effort_that_a_template_refuses_is_its_error() -> None:
    with pytest.raises(ChatTemplateError, match="reasoning_effort error : enormous, should be no_think/low/high"):
        ChatFormat(CORPUS["tencent-Hy3"], bos=BOS, eos=EOS, thinking=True, effort="enormous")
