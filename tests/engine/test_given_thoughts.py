"""Thoughts at the beginning of a prefill, in the marks that a chat template has for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core.backend import CLOSE, OPEN
from pytest_puma.engine.chat import ChatFormat
from pytest_puma.replies.answers import strip_reasoning
from tests.engine.template_corpus import BOS, EOS
from tests.engine.test_chat_layout import ASK, THINKS, chat, template
from tests.engine.test_template_corpus import CORPUS, REFUSES, needs_templates


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


def test_blanks_that_the_model_wrote_behind_its_mark_are_not_doubled() -> None:
    format_ = chat(THINKS.replace("<reason>", "<reason>\n"), thinking=True)
    one, other = (format_.render(replace(ASK, prefill=f"<think>{blank}Hm.</think>So")) for blank in ("", "\n"))
    assert one == other == "<|user|>Why?<|end|><|bot|><reason>\nHm.</reason>So"


@needs_templates
@pytest.mark.parametrize("name", sorted(CORPUS.keys() - REFUSES))
@pytest.mark.parametrize("blank", ["", "\n"])
def test_a_reply_with_given_thoughts_reads_as_one_with_its_own(name: str, blank: str) -> None:
    """Of each published template that has marks, the turn of the model is its thoughts and the answer."""
    format_ = ChatFormat(CORPUS[name], bos=BOS, eos=EOS, thinking=True)
    question, given = (format_.render(replace(ASK, prefill=text)) for text in ("", f"<think>{blank}Hm.</think>\nSo"))
    if not format_.thoughts(ASK).close:
        assert given.endswith(f"<think>{blank}Hm.</think>\nSo")
        return
    assert given.startswith(question)
    reply = format_.thoughts(ASK).shown(given.removeprefix(question))
    # Two templates open thoughts in the prompt where their history shows none: the first tag is not shown there.
    assert "".join(reply.partition(CLOSE)[0].strip().removeprefix(OPEN).split()) == "Hm."
    assert strip_reasoning(reply) == "So"
