"""A real model under the chat templates of others: the same weights, copied with another template in the file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_puma.core import Model
from tests.engine.template_corpus import corpus
from tests.integration.conftest import INI, Project
from tests.real.conftest import ask_briefly

CORPUS = corpus()
TEMPLATES = {
    "qwen3": "Qwen-Qwen3-0.6B",
    "phi3": "microsoft-Phi-3.5-mini-instruct",
    "gemma": "google-gemma-2-2b-it",
    "llama3": "meta-llama-Llama-3.1-8B-Instruct",
    "mistral": "mistralai-Mistral-Nemo-Instruct-2407",
    "deepseek-r1": "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "gpt-oss": "openai-gpt-oss-120b",
    "smollm3": "HuggingFaceTB-SmolLM3-3B",
}
CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=2, max_tokens=6)
def test_triage(puma):
    pass
"""
TURNS = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
PROMPT = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
#: Templates with one meaning. The second one ends a chat without a question, as those of Phi do.
ALIKE = {"a": TURNS + PROMPT, "b": TURNS + PROMPT.replace("{% endif %}", "{% else %}<|endoftext|>{% endif %}")}
THINKS = TURNS + PROMPT.replace("assistant\n", "assistant\n<think>\n")


@pytest.fixture
def project(pytester: pytest.Pytester, models: dict[str, Model]) -> Iterator[Project]:
    pytester.makeini(INI)
    pytester.makepyfile(test_triage=CELLS)
    ask_briefly(pytester.path)
    yield Project(pytester, models["smollm2"].path, 0)
    for copy in pytester.path.glob("*.gguf"):
        copy.unlink()  # 98 MB each


def copied(project: Project, name: str, template: str) -> str:
    """The argument for the weights with this template."""
    file, target = project.pytester.path / f"{name}.jinja", project.pytester.path / f"{name}.gguf"
    file.write_text(template, encoding="utf-8")
    program = Path(sys.executable).with_name("gguf-new-metadata")
    command = [str(program), "--force", "--chat-template-file", str(file), str(project.model), str(target)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a program of the package gguf
    return f"--puma-model={target}"


def answers(project: Project, name: str) -> list[object]:
    fields = ("sample_id", "raw", "answer", "probabilities", "logprobs")
    rows = [row for row in project.predictions() if row["cell"].endswith(f"@{name}")]
    return sorted(([row["cell"].partition("@")[0], *(row[field] for field in fields)] for row in rows), key=repr)


@pytest.mark.skipif(not CORPUS, reason="without the chat templates: python -m tools.chat_templates")
def test_a_run_under_the_templates_of_other_models_ends_with_a_table(project: Project) -> None:
    arguments = [copied(project, name, CORPUS[template]) for name, template in TEMPLATES.items()]
    result = project.pytester.runpytest_subprocess(*arguments)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*= puma =*", "*verdict*", "*predictions: *"])
    assert [len(answers(project, name)) for name in TEMPLATES] == [4] * len(TEMPLATES)
    assert all(row["probabilities"] for row in project.predictions() if "option_scoring" in row["cell"])


def test_templates_of_one_meaning_give_the_same_numbers(project: Project) -> None:
    arguments = [copied(project, name, template) for name, template in ALIKE.items()]
    assert project.pytester.runpytest_subprocess(*arguments).ret == 0
    assert answers(project, "a") == answers(project, "b") != []


def test_a_reply_that_ends_inside_the_thoughts_of_its_prompt_has_no_answer(project: Project) -> None:
    thinks = copied(project, "t", THINKS)
    assert project.pytester.runpytest_subprocess(f"{thinks},thinking=on", "--puma-max-tokens=24").ret == 0
    written = [row for row in project.predictions() if "zero_shot" in row["cell"]]
    assert written
    for row in written:
        assert row["raw"][0].startswith("<think>")
        assert (row["answer"], row["failure"]) == (None, "thinking")
    assert all(row["answer"] for row in project.predictions() if "option_scoring" in row["cell"])
