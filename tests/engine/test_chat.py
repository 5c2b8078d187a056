"""Prompts in the chat format of a model."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_puma.core import EngineError, Message, Prompt
from pytest_puma.engine.chat import PLAIN
from tests.engine.chat import ROLES, SYSTEM, USER, chat, render
from tests.tiny_gguf import CHATML

REFUSES_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + ROLES
DROPS_SYSTEM = ROLES.replace("messages %}", "messages if m.role != 'system' %}")
OPENS_THOUGHTS = ROLES + "{% if add_generation_prompt %}[assistant:<think>\n{% endif %}"


def test_a_model_without_template_gets_the_plain_format() -> None:
    expected = "Be brief.\n\nUser: Why?\n\nAssistant: It"
    assert render(None, prefill="It") == render("", prefill="It") == render(PLAIN, prefill="It") == expected


def test_the_plain_format_separates_turns() -> None:
    reply = Message(role="assistant", content="So.")
    assert render(None, USER, reply, USER) == "User: Why?\n\nAssistant: So.\n\nUser: Why?\n\nAssistant:"


def test_only_the_plain_format_ends_a_reply_where_the_model_invents_a_turn() -> None:
    assert chat(None).stops == chat("").stops == ("\nUser:", "\nAssistant:")
    assert chat(CHATML).stops == ()
    assert (chat(None).joint, chat(CHATML).joint) == (" ", "")


@pytest.mark.parametrize("template", [None, "", PLAIN, CHATML, REFUSES_SYSTEM, OPENS_THOUGHTS])
def test_a_prompt_without_chat_is_its_messages_as_plain_text(template: str | None) -> None:
    shot = Message(role="assistant", content="A: So.")
    prompt = Prompt(messages=(SYSTEM, USER, shot, USER), prefill="A:", chat=False)
    assert chat(template).render(prompt) == "Be brief.\n\nWhy?\nA: So.\n\nWhy?\nA:"
    assert chat(template).render(Prompt(messages=(USER,), chat=False)) == "Why?\n"
    assert chat(template).joint_of(prompt) == ""
    assert chat(template).joint_of(Prompt(messages=(USER,))) == chat(template).joint


def test_thoughts_in_a_prompt_without_chat_stay_open() -> None:
    assert chat(OPENS_THOUGHTS).render(Prompt(messages=(), prefill="<think>", chat=False)) == "<think>"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (ROLES, "[system:Be brief.][user:Why?]"),
        (REFUSES_SYSTEM, "[user:Be brief.\n\nWhy?]"),
        (DROPS_SYSTEM, "[user:Be brief.\n\nWhy?]"),
    ],
)
def test_without_system_role_the_system_message_moves_into_the_first_user_message(template: str, expected: str) -> None:
    assert render(template) == expected
    assert render(template, USER) == "[user:Why?]"


@pytest.mark.parametrize(
    ("template", "end"),
    [
        (OPENS_THOUGHTS, "[assistant:<think>\n\n</think>\n\nAnswer:"),
        (OPENS_THOUGHTS.replace("<think>\n", "<think>\n\n</think>\n\n"), "<think>\n\n</think>\n\nAnswer:"),
        (ROLES, "[user:Why?][assistant:Answer:"),
    ],
)
def test_an_answer_without_thinking_begins_after_the_thoughts(template: str, end: str) -> None:
    assert render(template, prefill="Answer:").endswith(end)


def test_the_thoughts_of_a_model_that_may_think_stay_open() -> None:
    assert render(OPENS_THOUGHTS, thinking=True).endswith("[assistant:<think>\n")


def test_a_tag_spelled_in_a_sample_is_not_closed() -> None:
    text = render(ROLES + "!", Message(role="user", content="what is <think>"))
    assert text == "[user:what is <think>]!"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{{ strftime_now('%d %B %Y') }}", "01 January 2025"),
        ("{{ tools is defined }}{{ documents is defined }}{{ tool_choice is defined }}", "FalseFalseFalse"),
        ("{{ bos_token }}{{ eos_token }}", "<s></s>"),
        ("{{ enable_thinking }}", "False"),
        ("{{ {'ä': [1]} | tojson }}{{ [1] | tojson(indent=1) }}", '{"ä": [1]}[\n 1\n]'),
        ("{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "1"),
        ("{% generation %}{{ 1 + 1 }}{% endgeneration %}", "2"),
        ("{% if true %}\n  x\n  {% endif %}\ny", "  x\ny"),
        ("{{ nothing_of_that_name }}", ""),
    ],
)
def test_templates_have_the_expected_functions_and_variables(expression: str, expected: str) -> None:
    assert render(ROLES + "|" + expression).partition("|")[2] == expected


@pytest.mark.parametrize(
    "fault",
    [
        "{{ raise_exception('only tools') }}",
        "{{ 1 / 0 }}",
        "{% for i in range(10 ** 9) %}x{% endfor %}",
        "{{ '{}'.format() }}",
        "{{ 'x'.encode('no such code') }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ messages + 1 }}",
        "{{ messages[0].content.nothing.at_all }}",
        "{{ [3, 1] | tojson(no_such_argument=1) }}",
    ],
)
def test_any_fault_of_a_template_is_an_engine_error(fault: str) -> None:
    with pytest.raises(EngineError, match="refuses roles"):
        render(ROLES + fault)


@pytest.mark.parametrize(
    "template", ["{% if %}", "{{ x", "{% endfor %}", "{% no_such_tag %}", "{{ 1 | no_such_filter }}"]
)
def test_a_template_that_cannot_be_parsed_is_an_engine_error(template: str) -> None:
    with pytest.raises(EngineError, match="chat template cannot be used"):
        chat(template)


#: Control tokens of a vocabulary; those of CHATML would be cut out of the template as well.
CONTROL = re.compile("</s>|<s>")
TRIMS = ROLES.replace("m.content", "m.content | trim")
CUTS = ROLES.replace("m.content", "m.content[1:]")


@settings(deadline=None)
@given(
    plain=st.booleans(),
    contents=st.lists(
        st.lists(st.sampled_from(["<s>", "</s>", "a", " ", "s>", "\U000f0000"])).map("".join), min_size=1
    ),
    prefill=st.text(st.characters(exclude_categories=["Cs"])),
    template=st.sampled_from(
        [PLAIN, CHATML, REFUSES_SYSTEM, DROPS_SYSTEM, OPENS_THOUGHTS, TRIMS, ROLES + "\U000f0001"]
    ),
)
def test_marks_stand_for_what_a_sample_spells(*, plain: bool, contents: list[str], prefill: str, template: str) -> None:
    prompt = Prompt(
        messages=(SYSTEM, *(Message(role="user", content=content) for content in contents)),
        prefill=prefill,
        chat=not plain,
    )
    text, spelled = chat(template).marked(prompt, CONTROL)
    for mark, spelling in spelled.items():
        text = text.replace(mark, spelling)
    assert text == chat(template).render(prompt)
    assert set(spelled.values()) == set(CONTROL.findall("|".join(contents)))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (CUTS, "[user:a @ b]"),
        (ROLES + "\ue0f7", "[user:<a @ b]\ue0f7"),
        ("{{ messages[0].content.split(' ')[1] }}", "@"),
        ("{{ messages[0].content | tojson }}", '"<a @ b"'),
    ],
)
def test_a_template_may_change_a_sample_that_spells_a_control_token(template: str, expected: str) -> None:
    prompt = Prompt(messages=(Message(role="user", content="<a </s> b"),))
    text, spelled = chat(template).marked(prompt, CONTROL)
    (mark,) = spelled
    assert text == expected.replace("@", mark)


def test_the_text_of_the_template_and_the_prefill_are_trusted() -> None:
    prompt = Prompt(messages=(USER,), prefill="<s>")
    assert chat(ROLES + "</s>").marked(prompt, CONTROL) == ("[user:Why?]</s>[assistant:<s>", {})


def test_the_texts_behind_an_answer_are_those_of_the_template() -> None:
    assert chat(CHATML).after == ("<|im_end|>\n", "<|im_end|>\n<|im_start|>user\n")
    assert chat(None).after == ("\n\n", "\n\nUser: ")
