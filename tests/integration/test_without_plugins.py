"""Runs without one of pytest's own plugins that may be switched off: the exit status stays that of the gates."""

from __future__ import annotations

import pytest
from _pytest.config import default_plugins, essential_plugins

from tests.integration.conftest import Project

GATED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, gates=["parse_failure_rate GATE"])
def test_gated(puma):
    pass
"""
#: Without these pytest itself does not start, or collects no function.
NEEDED = {*essential_plugins, "python"}
OPTIONAL = [name for name in default_plugins if name not in NEEDED]


@pytest.mark.parametrize("plugin", OPTIONAL)
def test_a_run_without_an_optional_plugin_ends_as_its_gates_do(alone: Project, plugin: str) -> None:
    for gate, status in ((">= 0.5", pytest.ExitCode.TESTS_FAILED), ("<= 0.5", pytest.ExitCode.OK)):
        alone.write(test_gated=GATED.replace("GATE", gate))
        assert alone.run("-p", f"no:{plugin}").ret == status


def test_a_plan_without_the_terminal(alone: Project) -> None:
    alone.write(test_gated=GATED.replace("GATE", ">= 0.5"))
    assert alone.run("-p", "no:terminal", "--puma-plan").ret == pytest.ExitCode.OK


@pytest.mark.parametrize("project", [2], ids=["two_workers"], indirect=True)
def test_workers_without_the_terminal(scripted: Project) -> None:
    scripted.write(test_gated=GATED.replace("GATE", ">= 0.5"))
    assert scripted.run("-p", "no:terminal").ret == pytest.ExitCode.TESTS_FAILED
