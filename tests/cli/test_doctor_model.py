"""`pytest-puma doctor MODEL`: texts that a template or a tokenizer changes, a missing end of an answer, the switch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.cli.doctor import model
from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.platform.bundled import bundled_folder
from tests.tiny_gguf import CHATML, LLAMA_NO_BOS, write_gguf


def found(path: Path, template: str | None) -> Finding:
    """The finding about a model with this template."""
    write_gguf(path / "q.gguf", replace(LLAMA_NO_BOS, chat_template=template))
    (finding,) = model.findings(f"q={path / 'q.gguf'}", [])
    return finding


def test_texts_of_all_kinds_arrive_in_the_bundled_model() -> None:
    (finding,) = model.findings("puma-tiny", [bundled_folder("models")])
    assert finding.state == "ok"
    assert "\nthinking: none\n" in finding.found
    assert "texts arrive as they are: letters of other scripts, emoji, " in finding.found


@pytest.mark.parametrize(
    ("content", "changed"),
    [
        ("message.content | e", "marks of a page"),
        ("message.content[:50]", "a long text"),
        ("message.content.split() | join(' ')", "blanks and line breaks"),
    ],
)
def test_a_text_that_the_template_changes_is_named_with_what_to_do(tmp_path: Path, content: str, changed: str) -> None:
    finding = found(tmp_path, CHATML.replace("message.content", content))
    assert finding.state == "advice"
    assert changed in finding.details["changed"]
    (line,) = (
        line for line in finding.advice.splitlines() if line.startswith(f"{changed}: texts with them do not arrive")
    )
    assert "name a file with another template or tokenizer, or try chat=off" in line


def test_the_own_end_of_a_turn_is_text_in_a_sample(tmp_path: Path) -> None:
    ascii_only = "message.content.encode('ascii', 'ignore').decode('ascii')"
    finding = found(tmp_path, CHATML.replace("message.content", ascii_only))
    assert "the mark that ends an answer: texts with them do not arrive as they are, but as 'a  z" in finding.advice


def test_an_answer_without_an_end_is_named(tmp_path: Path) -> None:
    turns = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    endless = found(tmp_path, f"{turns}{{% if add_generation_prompt %}}assistant: {{% endif %}}").advice
    assert endless.startswith("the template puts no token that ends a turn behind an answer: replies may go on ")


@pytest.mark.parametrize(
    ("template", "thinking"),
    [
        ("{% if enable_thinking %}<think>\n{% else %}<think>\n\n</think>\n\n{% endif %}", "off; on with thinking=on"),
        ("{# <think> </think> #}", "cannot be switched"),
    ],
)
def test_whether_thoughts_can_be_switched_is_said(tmp_path: Path, template: str, thinking: str) -> None:
    finding = found(tmp_path, CHATML.replace("assistant\n{% endif %}", f"assistant\n{template}{{% endif %}}"))
    assert f"\nthinking: {thinking}\n" in finding.found


def test_a_model_without_a_template_gets_advice(tmp_path: Path) -> None:
    finding = found(tmp_path, None)
    assert finding.advice.startswith("the file has no chat template; ")
    assert finding.advice.endswith("for a base model, compare with chat=off, or name a file with a chat template")
