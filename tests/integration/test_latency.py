"""Latencies as measures with gates: of requests that share their batch, and of one at a time."""

from __future__ import annotations

from typing import Any

from pytest_puma.metrics import source_of
from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.past_runs import earlier

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=12, max_tokens=8,
                  gates=["latency_p95 <= 60", "latency_p50 <= 0", "tokens_per_second >= 0.01"])
def test_triage(puma):
    pass
"""


def timed(project: Project, *options: str) -> dict[str, dict[str, Any]]:
    """The measures of time of a run, whose gates on two of them hold and on one does not."""
    project.run(*options).assert_outcomes(failed=1)
    (outcome,) = project.record()["outcomes"]
    assert [verdict["status"] for verdict in outcome["verdicts"]] == ["PASS", "FAIL", "PASS"]
    return {name: measure for name, measure in outcome["measures"].items() if source_of(name) == "clock"}


@ONE_PROCESS
def test_a_note_says_how_many_requests_ran_at_once(project: Project) -> None:
    project.write(test_triage=BENCHMARK)
    shared = timed(project)
    assert shared["latency_p50"]["value"] <= shared["latency_p95"]["value"]
    assert shared["latency_p95"]["note"].startswith("n under 200: the interval is approximate; from admission")
    assert int(shared["latency_mean"]["note"].rpartition("about ")[2].split()[0]) > 2
    earlier(project)
    alone = timed(project, "--puma-strict")
    assert all(alone[name]["note"].endswith("of the reply, one request at a time") for name in alone)
