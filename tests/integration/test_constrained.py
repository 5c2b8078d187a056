"""Free and constrained replies of a real model with random weights, as a pair of cells."""

from __future__ import annotations

import json

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import refused, write_rows

PAIR = """
import pytest
from pytest_puma import ChoiceScenario, CompletionScenario
from pytest_puma.scenarios.choice import ListedChoiceScenario

class Quiz(ListedChoiceScenario):
    name = "quiz"
    data = "quiz.jsonl"

class Invoices(CompletionScenario):
    name = "invoices"
    data = "invoices.jsonl"
    scores = ("json.schema",)

    def instruction(self, item):
        return f"Is this paid? {item['text']}"

    def truth(self, item):
        return None

    def context(self, item):
        return {"json_schema": item["schema"]}

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "constrained"], samples=6,
                  gates=["constrained.accuracy >= zero_shot.accuracy", "parse_failure_rate <= 1"])
def test_labels(puma):
    pass

@pytest.mark.puma(Quiz, strategies=["zero_shot", "constrained", "constrained_1"], samples=4)
def test_choices(puma):
    pass

@pytest.mark.puma(Invoices, strategies=["zero_shot", "constrained"], samples=3)
def test_texts(puma):
    pass
"""
PAID = {"required": ["paid"], "properties": {"paid": {"type": "boolean"}, "why": {"enum": ["cash", "card"]}}}


def written(project: Project, *schemas: object) -> Project:
    project.write(test_pair=PAIR)
    write_rows(project, "quiz.jsonl", *({"question": f"{n}?", "choices": ["x", "y"], "answer": "x"} for n in range(6)))
    write_rows(project, "invoices.jsonl", *({"text": f"no. {n}", "schema": part} for n, part in enumerate(schemas)))
    return project


def test_constrained_replies_are_always_valid_answers(project: Project) -> None:
    result = written(project, PAID, PAID, PAID).run("--puma-compare", "strategy")
    rates = {
        outcome["cell"].partition("@")[0]: outcome["measures"]["parse_failure_rate"]["value"]
        for outcome in project.record()["outcomes"]
    }
    constrained = {name: rate for name, rate in rates.items() if "constrained" in name}
    assert constrained == dict.fromkeys(
        ("triage_jira-constrained", "quiz-constrained", "quiz-constrained_1", "invoices-constrained"), 0.0
    )
    assert rates["triage_jira-zero_shot"] == 1.0
    replies = [each for each in project.predictions() if each["cell"].startswith("invoices-constrained")]
    assert all(json.loads(each["raw"][0])["paid"] in {True, False} for each in replies)
    scores = {each["cell"].partition("@")[0]: each["scores"]["json.schema"] for each in replies}
    assert scores == {"invoices-constrained": 1}
    result.stdout.fnmatch_lines(["*triage_jira@tiny: constrained: accuracy *against zero_shot*"])


@ONE_PROCESS
def test_a_schema_that_has_no_grammar_is_a_collection_error(project: Project) -> None:
    output = refused(written(project, PAID, PAID, {"type": "string", "pattern": "x"}), "-k", "invoices")
    assert "scenario 'invoices', row " in output
    assert "has 'pattern'; a grammar cannot express it: remove it" in output


@ONE_PROCESS
def test_constrained_replies_are_kept(project: Project) -> None:
    written(project, PAID, PAID, PAID).run("-k", "constrained").assert_outcomes(passed=4)
    project.run("-k", "constrained", "--puma-offline").assert_outcomes(passed=4)
