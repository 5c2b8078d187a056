"""Benchmark files of several tests: every task type, with a gate on the time, without an engine."""

from __future__ import annotations

import json

from tests.integration.conftest import Project

#: Every way of asking: one request and several, texts and probabilities, two turns, under a perturbation too.
LABELS = """
import pytest

@pytest.mark.puma(
    "triage_jira",
    strategies=["zero_shot", "few_shot_3", "egi", "self_consistency_3", "option_scoring"],
    samples=6,
    perturb=["case_upper"],
)
def test_triage(puma):
    pass
"""

REPEATED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, repeats=3, temperature=1.0)
def test_triage(puma):
    pass
"""

#: Choices in several orders, with and without the question, and a completion of two turns with the truth scored.
TASKS = """
import pytest
from pytest_puma import ChoiceScenario, CompletionScenario

class Places(ChoiceScenario):
    name = "places"
    data = "places.jsonl"
    key = "id"
    orders = 3
    scores = ("accuracy_uncond", "position_bias")

    def question(self, item):
        return item["question"]

    def choices(self, item):
        return item["choices"]

    def answer(self, item):
        return item["answer"]

class Capitals(CompletionScenario):
    name = "capitals"
    data = "capitals.jsonl"
    key = "id"
    scores = ("exact_match", "bits_per_byte")
    max_tokens = 8

    def instruction(self, item):
        return f"Q: What is the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return item["capital"]

class Talk(Capitals):
    name = "talk"
    scores = ("exact_match",)

    def turns(self, item):
        return (self.instruction(item), "Write it again.")

@pytest.mark.puma(Places, strategies=["zero_shot", "option_scoring", "cloze_scoring"])
def test_places(puma):
    pass

@pytest.mark.puma(Capitals, strategies=["zero_shot"])
def test_capitals(puma):
    pass

@pytest.mark.puma(Talk, strategies=["zero_shot"])
def test_talk(puma):
    pass
"""

TIMED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= 0.1", "latency_mean <= 0.0"])
def test_triage(puma):
    pass
"""

TRIAGE = TIMED.replace(', "latency_mean <= 0.0"', "")

NO_ENGINE = """
import sys

def pytest_sessionfinish(session):
    loaded = [name for name in ("llama_cpp", "pytest_puma.engine.native") if name in sys.modules]
    assert not loaded, loaded
"""


def data_of(project: Project) -> None:
    """The rows of `TASKS`."""
    places = [
        {
            "id": f"p{number}",
            "question": f"Where is shelf {number}?",
            "choices": [*choices],
            "answer": choices[number % 3],
        }
        for number, choices in enumerate([("desk", "house", "all of the above"), ("sea", "sky", "bed")] * 2)
    ]
    capitals = [
        {"id": name[:2], "country": name, "capital": city}
        for name, city in (("Norway", "Oslo"), ("Japan", "Tokyo"), ("Peru", "Lima"))
    ]
    for name, rows in (("places", places), ("capitals", capitals)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (project.pytester.path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
