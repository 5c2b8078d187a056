"""The small sets end to end: each by its name, on the bundled model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.scenarios.small import SMALL_SETS
from tests.integration.conftest import Project

REPOSITORY = Path(__file__).parents[2]
#: One of each kind of `formats`.
SAMPLES = 3

TEST = """
import pytest

@pytest.mark.puma({name!r})
def test_{name}(puma):
    assert len({{each.sample_id for each in puma.predictions}}) == {samples}
    assert puma["overflow_rate"] == 0
"""


@pytest.mark.parametrize("project", [0], ids=["alone"], indirect=True)
def test_each_set_runs_by_its_name_and_has_its_metrics(project: Project) -> None:
    project.write(test_sets="".join(TEST.format(name=name, samples=SAMPLES) for name in SMALL_SETS))
    result = project.run(f"--puma-samples={SAMPLES}", model=False)

    cells = project.record()["outcomes"]
    result.assert_outcomes(passed=len(cells))
    assert {cell["scenario"] for cell in cells} == set(SMALL_SETS)
    for name, scenario in SMALL_SETS.items():
        # Those of likelihoods are measured in cloze scoring alone.
        measured = {metric for cell in cells if cell["scenario"] == name for metric in cell["measures"]}
        assert set(scenario.scores) <= measured
        result.stdout.fnmatch_lines([f"{name}: data/{name}.jsonl (sha256 *)"])


@pytest.mark.parametrize("project", [0], ids=["alone"], indirect=True)
def test_a_set_is_selected_by_its_name(project: Project) -> None:
    project.write(test_sets="".join(TEST.format(name=name, samples=SAMPLES) for name in ("capitals", "needle")))
    result = project.run("--puma-scenario=capitals", f"--puma-samples={SAMPLES}", model=False)
    assert {cell["scenario"] for cell in project.record()["outcomes"]} == {"capitals"}
    assert result.ret == 0


def test_the_benchmarks_of_the_repository_run_none_of_them() -> None:
    named = {
        name
        for path in (REPOSITORY / "benchmarks").glob("*.py")
        for name in re.findall(r'mark\.puma\("(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert named == {"triage_jira", "estimation_tawos", "prioritization_jira"}
