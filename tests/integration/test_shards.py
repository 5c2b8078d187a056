"""A run in parts, each in a project of its own, and the whole that their answers make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.cli import main
from tests.integration.conftest import ONE_PROCESS, Project

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "egi", "option_scoring"], samples=12,
                  gates=["accuracy >= 0", "max(accuracy over strategy) >= 0"])
def test_triage(puma):
    pass
"""
#: What depends on the clock, on the place or on the run.
_TIMED = ("latency_mean", "latency_p50", "latency_p95", "tokens_per_second")
_UNEQUAL = (*_TIMED, "seconds", "kept", "throughput", "speed", "run", "usage")


def _record(report: Path) -> list[dict[str, Any]]:
    """The outcomes of a run without what differs between any two runs."""
    outcomes: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["outcomes"]
    for outcome in outcomes:
        outcome["measures"] = {name: value for name, value in outcome["measures"].items() if name not in _UNEQUAL}
        for key in [key for key in outcome if key in _UNEQUAL]:
            del outcome[key]
    return outcomes


def test_merged_parts_equal_one_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(test_triage=BENCHMARK)
    home = project.pytester.path
    project.run("-o", "puma_store_path=whole.sqlite", "--puma-report=json:whole.json")
    shards = [f"shard-{number}.sqlite" for number in (1, 2)]
    for number, shard in enumerate(shards, start=1):
        result = project.run(f"--puma-shard={number}/2", "-o", f"puma_store_path={shard}")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["not run: *: a shard is a part of a run; merge the stores of all shards, then*"])
    monkeypatch.chdir(home)
    assert main(["store", "merge", *shards]) == 0
    merged = project.run("--puma-offline", "--puma-report=json:merged.json")
    merged.assert_outcomes(passed=3)
    assert _record(home / "merged.json") == _record(home / "whole.json")


@ONE_PROCESS
def test_a_missing_part_is_named(project: Project) -> None:
    project.write(test_triage=BENCHMARK)
    project.run("--puma-shard=1/3").assert_outcomes(passed=1, deselected=2)
    result = project.run("--puma-offline")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*triage_jira-option_scoring@tiny: no answers are kept of it*"])


@ONE_PROCESS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--puma-shard=3/2"], "*--puma-shard: found '3/2'; expected I/N with I from 1 to N, such as 2/4*"),
        (["--puma-shard=1/2", "--puma-store=off"], "*would lose the answers of the shard*"),
        (["--puma-shard=1/2", "--puma-offline"], "*--puma-shard and --puma-offline: a shard computes a part of a run*"),
        (["--puma-shard=1/2", "--puma-update-baseline"], "*--puma-shard and --puma-update-baseline: a shard*"),
    ],
)
def test_what_needs_the_whole_is_refused(scripted: Project, arguments: list[str], message: str) -> None:
    result = scripted.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
