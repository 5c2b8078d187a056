"""`no_regression` on the bundled model: a spoiled prompt FAILs, a reworded one passes; the run tells what it sees."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import INI, Project
from tests.processes import run_pytest

GATED = """
import pytest

@pytest.mark.puma(
    "triage_jira",
    strategies=["option_scoring", "zero_shot"],
    samples=100,
    gates=["no_regression", "accuracy >= baseline"],
)
def test_triage(puma):
    pass
"""
POINTS = """
import pytest

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot"], samples=20, gates=["no_regression"])
def test_points(puma):
    pass
"""
BUNDLED = Path(__file__).parents[2] / "prompts"
SPOILED = (
    "<issue>\nTitle: {{ title }}\n{% if description %}\nDescription: {{ description[:60] }}\n{% endif %}\n</issue>\n"
)
REWORDED = 'Which priority does an issue have: {{ labels[:-1] | join(", ") }} or {{ labels[-1] }}?\n'


def run(project: Project, *arguments: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    """The result, and its verdicts by cell and gate, with the tally of the run."""
    shutil.rmtree(project.pytester.path / ".puma", ignore_errors=True)
    result = project.run("--puma-report=md:run.md", *arguments, model=False)
    record = project.record()
    verdicts: dict[str, Any] = {
        f"{outcome['strategy']}: {verdict['gate']['metric']}": verdict
        for outcome in record["outcomes"]
        for verdict in outcome["verdicts"]
    }
    return result, verdicts | {"gates": record["gates"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a baseline of 100 issues."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in (("pytest.ini", INI), ("test_triage.py", GATED), ("test_points.py", POINTS)):
        (folder / name).write_text(text, encoding="utf-8")
    assert "3 passed" in run_pytest(folder, "-p", "no:xdist", "--puma-update-baseline")
    return folder


@pytest.fixture
def team(pytester: pytest.Pytester, made: Path) -> Project:
    """A copy of it."""
    shutil.copytree(made, pytester.path, dirs_exist_ok=True)
    return Project(pytester, Path("unused"), 0)


def test_a_spoiled_prompt_fails_and_a_reworded_one_passes(team: Project) -> None:
    prompts = team.pytester.path / "prompts" / "triage_jira"
    shutil.copytree(BUNDLED, prompts.parent)

    (prompts / "_question.jinja").write_text(REWORDED, encoding="utf-8")
    result, verdicts = run(team)
    result.assert_outcomes(passed=3)
    assert verdicts["option_scoring: no_regression"]["status"] == "PASS"
    assert "refitted Brier score" in verdicts["option_scoring: no_regression"]["reason"]
    assert verdicts["zero_shot: no_regression"]["status"] in {"PASS", "INCONCLUSIVE"}
    assert (
        "right and wrong alone count, because this run did not score the labels"
        in verdicts["zero_shot: no_regression"]["reason"]
    )
    power = verdicts["option_scoring: no_regression"]["power"]
    assert (power["n"], power["loss"], power["changed"]) == (100, 0.05, 0.12)
    assert power["caught"] > verdicts["zero_shot: no_regression"]["power"]["caught"] > 0.3
    result.stdout.fnmatch_lines(
        [
            "false alarms: if all true changes keep their limits, one or more of the 5 gates on a change still *",
            "power: no_regression: a loss of 5 points is caught in * % of runs at n=100; 80 % needs about * samples*",
            "power: accuracy >= baseline: a loss of 5 points is caught in * % of runs at n=100; 80 % needs about *",
        ]
    )
    assert (verdicts["gates"]["judged"], verdicts["gates"]["undecided"], verdicts["gates"]["on_change"]) == (5, 0, 5)
    assert "power: accuracy " in (team.pytester.path / "run.md").read_text(encoding="utf-8")

    (prompts / "_issue.jinja").write_text(SPOILED, encoding="utf-8")
    result, verdicts = run(team, "-k", "triage")
    result.assert_outcomes(failed=2)
    assert verdicts["option_scoring: no_regression"]["status"] == "FAIL"
    result.stdout.fnmatch_lines(["no_regression: a regression (p = *) against the baseline: accuracy *"])


def test_a_plan_says_what_the_gates_can_see(team: Project) -> None:
    lines = team.run("--puma-plan", model=False).outlines
    (word,) = (line for line in lines if line.startswith("power: no_regression: a loss of 5 points"))
    assert word.startswith("power: no_regression: a loss of 5 points is caught in at least ")
    assert word.endswith("80 % needs at most 290 samples (where 12 % of the answers change), in the weakest of 2 cells")


def test_it_may_stand_wherever_a_gate_may(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_gates = triage_jira: no_regression !fail\n")
    test = (
        "import pytest\n\n@pytest.mark.puma('triage_jira', strategies=['zero_shot'], samples=8)\ndef test(puma): pass\n"
    )
    alone.write(test_triage=test)
    alone.run("--puma-gate", "no_regresion").stderr.fnmatch_lines(["*found no operator (did you mean no_regression?)*"])
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["no baseline: *"])
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    # The same answers are no regression, however few they are.
    alone.run().assert_outcomes(passed=1)
    kept = (alone.pytester.path / "benchmarks" / "baselines" / "triage_jira.json").read_text(encoding="utf-8")
    assert json.loads(kept)["format"] == 2
