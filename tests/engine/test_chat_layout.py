"""The place of an answer, its end, and the marks of thoughts, learned from a chat template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Message, Model, ModelOptions, Prompt
from pytest_puma.core.backend import Thoughts
from pytest_puma.engine.chat import ChatFormat, ChatTemplateError
from pytest_puma.engine.native import DryBackend
from tests.tiny_gguf import CHATML, LLAMA_BOS, QWEN2, Shape

ASK = Prompt(messages=(Message(role="user", content="Why?"),))
#: A history of turns; `@` is what comes before the words of the assistant, `!` what ends a turn.
TURNS = (
    "{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}<|end|>"
    "{% else %}<|bot|>@{{ m.content }}!{% endif %}{% endfor %}"
)
PROMPT = "{% if add_generation_prompt %}<|bot|>@{% endif %}"
#: Thoughts in a field of the message, as most templates of reasoning models print them.
THINKS = (
    TURNS.replace("@", "{% if m.reasoning_content %}<reason>{{ m.reasoning_content }}</reason>{% endif %}")
    + "{% if add_generation_prompt %}<|bot|>{% if enable_thinking is false %}<reason></reason>{% endif %}{% endif %}"
)


def template(history: str, prompt: str, end: str = "<|end|>") -> str:
    return TURNS.replace("@", history).replace("!", end) + PROMPT.replace("@", prompt)


def chat(text: str, *, thinking: bool = False, effort: str | None = None) -> ChatFormat:
    return ChatFormat(text, bos="<s>", eos="</s>", thinking=thinking, effort=effort)


@pytest.mark.parametrize(
    ("history", "prompt", "start", "joint"),
    [
        ("", "", "", ""),
        ("<|channel|>final<|message|>", "", "<|channel|>final<|message|>", ""),
        ("all\n", "", "all\n", ""),
        (" ", "", "", " "),
        ("<think></think>", "", "<think></think>", ""),
        ("<|text|>", "<think></think>", "<|text|>", ""),
        ("", "<think>\n\n</think>\n\n", "", ""),
        ("<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n", "", ""),
        ("</think>", "<think></think>", "", ""),
        ("", "<think>\n", "\n</think>\n\n", ""),
        ("", "<think>", "\n\n</think>\n\n", ""),
        ("<think>\n\n</think>\n", "<think>\n", "\n</think>\n", ""),
        ("", "[THINK]", "\n\n[/THINK]\n\n", ""),
    ],
)
def test_an_answer_begins_where_the_template_puts_one(history: str, prompt: str, start: str, joint: str) -> None:
    format_ = chat(template(history, prompt))
    prompted = f"<|user|>Why?<|end|><|bot|>{prompt}{start}"
    assert format_.render(ASK) == format_.render(ASK, answer=True) == prompted
    assert format_.render(replace(ASK, prefill="So")) == f"{prompted}{joint}So"
    assert format_.joint == joint


def test_the_prompt_of_a_model_that_thinks_stays_open_until_an_answer_is_asked_for() -> None:
    format_ = chat(template("", "<think>\n"), thinking=True)
    assert format_.render(ASK).endswith("<|bot|><think>\n")
    assert format_.render(ASK, answer=True).endswith("<|bot|><think>\n\n</think>\n\n")
    assert format_.render(replace(ASK, prefill="So")).endswith("</think>\n\nSo")
    assert format_.thoughts(ASK) == Thoughts(open="<think>", close="</think>", begun=True)
    assert format_.thoughts(replace(ASK, prefill="So")) == Thoughts(open="<think>", close="</think>")
    assert format_.thoughts(replace(ASK, chat=False)) == Thoughts()


@pytest.mark.parametrize(("prompt", "joint"), [("\n\n  Bot:", " "), ("\n\n  Bot:\n", ""), ("Bot:", " ")])
def test_blanks_in_a_template_do_not_repeat_the_name_of_the_assistant(prompt: str, joint: str) -> None:
    history = "{% for m in messages %}{{ '\nUser: ' if m.role == 'user' else '\n Bot: ' }}{{ m.content }}{% endfor %}"
    format_ = chat(f"{history}{{% if add_generation_prompt %}}{{{{ {prompt!r} }}}}{{% endif %}}")
    assert format_.render(ASK, answer=True) == f"\nUser: Why?{prompt}"
    assert format_.joint == joint


def test_a_template_without_generation_prompt_is_not_added_to_unless_an_answer_is_asked_for() -> None:
    format_ = chat(template("", "").replace("add_generation_prompt", "false"))
    assert format_.render(ASK) == "<|user|>Why?<|end|>"
    assert format_.render(ASK, answer=True) == "<|user|>Why?<|end|><|bot|>"


def test_the_marks_of_thoughts_are_those_of_the_template() -> None:
    on, off = chat(THINKS, thinking=True), chat(THINKS)
    assert on.thoughts(ASK) == Thoughts(open="<reason>", close="</reason>")
    assert off.render(ASK).endswith("<|bot|><reason></reason>")
    assert off.thoughts(ASK).shown("<reason>a</reason>b") == "<think>a</think>b"
    assert on.facts()["variables"] == "enable_thinking=True"


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_thoughts_may_be_in_any_usual_field(key: str) -> None:
    assert chat(THINKS.replace("reasoning_content", key)).marks == ("<reason>", "</reason>")


def test_thoughts_may_be_a_part_of_the_content() -> None:
    parts = (
        "{% for p in m.content %}{% if p.type == 'thinking' %}[R]{{ p.thinking }}[/R]{% else %}{{ p.text }}{% endif %}"
    )
    listed = TURNS.replace("@{{ m.content }}", f"{parts}{{% endfor %}}")
    assert chat(listed + PROMPT.replace("@", "")).marks[:2] == ("[R]", "[/R]")


@pytest.mark.parametrize(
    ("condition", "off", "on"),
    [
        ("enable_thinking", "False", "True"),
        ("thinking", "False", "True"),
        ("thinking_mode == 'enabled'", "disabled", "enabled"),
        ("thinking_budget != 0", "0", None),
        ("reasoning_effort != 'none'", "none", None),
        ("reasoning_effort not in ['no_think']", "no_think", "high"),
        ("thinking_effort != 'low'", "low", None),
    ],
)
def test_a_template_gets_the_switch_that_it_reads(condition: str, off: str, on: str | None) -> None:
    source = TURNS + "{% if add_generation_prompt %}<|bot|>{% if CONDITION %}<think>{% endif %}{% endif %}"
    source = source.replace("CONDITION", condition)
    name = condition.split(maxsplit=1)[0]
    for thinking, value in ((False, off), (True, on)):
        format_ = chat(source, thinking=thinking)
        assert format_.render(ASK).endswith("<think>") == thinking
        assert format_.facts()["variables"] == ("none" if value is None else f"{name}={value}")
        assert format_.notes == ()


def test_the_users_word_for_the_effort_is_passed_on() -> None:
    source = template("", "") + "{{ reasoning_effort }}"
    assert chat(source, effort="medium").facts()["variables"] == "reasoning_effort=medium"
    assert chat(source, effort="medium").notes == ()


def test_a_switch_that_changes_nothing_is_a_note() -> None:
    assert chat(CHATML, thinking=True).notes == (
        "thinking=on changes nothing: the model's chat template has no switch for it",
    )
    assert chat(CHATML, effort="low").notes == (
        "reasoning_effort=low changes nothing: the model's chat template does not read it",
    )
    assert chat(CHATML).notes == ()


def test_thoughts_without_a_switch_are_a_note() -> None:
    thinks = THINKS.replace("enable_thinking is false", "false")
    (note,) = chat(thinks).notes
    assert note == (
        "the model may think before it answers: its chat template has no switch for that; give its replies room "
        "(--puma-max-tokens)"
    )


def test_a_template_that_wants_parts_gets_parts() -> None:
    parts = "{% for m in messages %}{{ m.role }}:{% for p in m.content %}{{ p['text'] }}{% endfor %};{% endfor %}"
    format_ = chat(parts)
    assert format_.render(ASK) == "user:Why?;"
    assert format_.facts()["content"] == "parts"


def test_a_template_that_is_a_name_is_that_format() -> None:
    assert chat("chatml").render(ASK) == "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    "source", ["vicuna", "{% for m in messages %}{{ m.role }}{% endfor %}", "{{ messages | length }}"]
)
def test_a_question_that_does_not_arrive_is_an_error(source: str) -> None:
    with pytest.raises(ChatTemplateError, match=r"a question does not arrive in the prompt; expected .* \(chat=off\)"):
        chat(source)


def test_an_answer_that_the_template_does_not_show_is_a_note() -> None:
    format_ = chat("{{ messages[0].content }}")
    assert format_.notes == (
        "the model's chat template shows no answer: one is expected to begin right after the prompt",
    )
    assert format_.facts()["answer after"] == "unknown"


def test_a_switch_in_a_message_may_change_the_end_of_the_prompt() -> None:
    """SmolLM3 thinks if the system message has `/think`."""
    source = template("", "{% if '/think' in messages[0].content %}<think>\n{% endif %}")
    prompt = replace(ASK, messages=(Message(role="user", content="/think Why?"),))
    assert chat(source).render(prompt).endswith("<|bot|><think>\n\n</think>\n\n")


# -- on a vocabulary -----------------------------------------------------------------------------


def opened(path: Path, *, thinking: bool = False) -> DryBackend:
    return DryBackend(Model(name="q", path=path, options=ModelOptions(thinking=thinking)), context_limit=256)


def test_the_first_end_behind_the_answer_ends_it(model_file: Callable[[Shape], Path]) -> None:
    """Some templates print the end of the whole text behind a chat without a question."""
    ended = CHATML.replace(
        "{% if add_generation_prompt %}",
        "{% if not add_generation_prompt %}<|endoftext|>{% endif %}{% if add_generation_prompt %}",
    )
    ends = {opened(model_file(replace(QWEN2, chat_template=source))).ends_of_turn for source in (CHATML, ended)}
    assert len(ends) == 1


def test_an_end_that_only_the_next_turn_shows_is_found(model_file: Callable[[Shape], Path]) -> None:
    late = (
        "{% for m in messages %}{% if not loop.first %}<|im_end|>{% endif %}{{ m.role }}: {{ m.content }}{% endfor %}"
    )
    backend = opened(model_file(replace(QWEN2, chat_template=late)))
    assert backend.ends_of_turn == opened(model_file(replace(QWEN2, chat_template=CHATML))).ends_of_turn


def test_an_end_on_a_line_of_its_own_may_be_the_end_of_the_line(model_file: Callable[[Shape], Path]) -> None:
    lines = CHATML.replace("<|im_end|>", "\n<|im_end|>")
    ends = opened(model_file(replace(QWEN2, chat_template=lines))).ends_of_turn
    in_line = opened(model_file(replace(QWEN2, chat_template=CHATML))).ends_of_turn
    assert set(in_line) < set(ends)


def test_control_tokens_of_thoughts_are_printed(model_file: Callable[[Shape], Path]) -> None:
    thoughts = (
        THINKS.replace("<reason>", "<|im_start|>").replace("</reason>", "<|endoftext|>").replace("!", "<|im_end|>")
    )
    backend = opened(model_file(replace(QWEN2, chat_template=thoughts)), thinking=True)
    pieces = {backend.piece(token) for token in range(backend.size) if backend.is_end(token)}
    assert b"<|endoftext|>" in pieces
    assert backend.thoughts(ASK) == Thoughts(open="<|im_start|>", close="<|endoftext|>")


def test_the_text_of_a_sample_that_spells_a_control_token_has_no_further_blanks(
    model_file: Callable[[Shape], Path],
) -> None:
    """A vocabulary of SentencePiece puts a blank before each text that is tokenised alone."""
    backend = opened(model_file(replace(LLAMA_BOS, chat_template=CHATML)))
    prompt = Prompt(messages=(Message(role="user", content="old<s>price</s>new"),))
    assert "old<s>price</s>new" in b"".join(map(backend.piece, backend.encode(prompt))).decode()


def test_the_format_is_part_of_the_signature(model_file: Callable[[Shape], Path]) -> None:
    path = model_file(replace(QWEN2, chat_template=CHATML))
    signature = DryBackend(Model(name="q", path=path), context_limit=256, digest="d").signature
    assert signature["chat_format"] == (
        "content: text; system role: yes; variables: none; answer after: '<|im_end|>\\n<|im_start|>assistant\\n'; "
        "thoughts: none known; answer ends with: '<|im_end|>'"
    )
