"""Thoughts at the beginning of a prefill, in the marks that a chat template has for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.test_chat_layout import ASK, THINKS, chat, template


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        (template("", "<think>\n"), "<think>\nHm.\n</think>\n\nSo"),
        (template("", "[THINK]"), "[THINK]Hm.\n[/THINK]\n\nSo"),
        (THINKS, "<reason>Hm.</reason>So"),
        (
            template(
                "{% if m.reasoning_content %}<|channel|>analysis<|message|>{{ m.reasoning_content }}<|end|>"
                "<|start|>assistant{% endif %}<|channel|>final<|message|>",
                "",
            ),
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>So",
        ),
        (template("", ""), "<think>Hm.</think>\nSo"),
    ],
)
def test_thoughts_that_a_prefill_gives_have_the_marks_of_the_model(text: str, begun: str) -> None:
    """A model without any gets them as they are."""
    format_ = chat(text, thinking=True)
    prompt = replace(ASK, prefill="<think>Hm.</think>\nSo")
    assert format_.render(prompt) == format_.render(prompt, answer=True) == f"<|user|>Why?<|end|><|bot|>{begun}"
    assert not format_.thoughts(prompt).begun
