"""Runs whose parser changed between them."""

from __future__ import annotations

from tests.integration.conftest import Project
from tests.integration.test_runs import mood

TEST = """
import pytest

@pytest.mark.puma("urgency", strategies=["zero_shot"], samples=60)
def test_it(puma):
    pass
"""
OWN = """
from pytest_puma.scenarios import TriageJiraScenario

class Urgency(TriageJiraScenario):
    name = "urgency"
    template_folder = "triage_jira"

    def parse_response(self, response):
        return {parser}

def pytest_puma_scenarios():
    return [Urgency]
"""


def test_a_changed_parser_is_named(alone: Project) -> None:
    alone.write(test_it=TEST, conftest=mood(3) + OWN.format(parser="response"))
    alone.run().assert_outcomes(passed=1)
    alone.write(conftest=mood(3) + OWN.format(parser='"Major"  # a joke'))
    result = alone.run("--puma-compare=last")
    result.stdout.fnmatch_lines(
        ["*= puma: earlier run =*", "changed: urgency-zero_shot@*: the parser is another one (*, now *)"]
    )
    assert "the code of the scenario is another one" not in result.stdout.str()
