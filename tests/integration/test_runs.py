"""Runs that already happened, as their user sees them: the history grows, and two runs are compared as by a gate."""

from __future__ import annotations

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.cli import main
from pytest_puma.runs.comparison import RunComparison, compare
from pytest_puma.runs.past_run import Older, PastRun
from tests.integration.conftest import ONE_PROCESS, SCRIPTED, Project

#: A model whose answers depend on a file, so that they change from run to run.
MOODY = """
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

WORDS = {words}

def answer(prompt):
    task = prompt.rpartition("\\x03")[2]
    if "story points" in prompt:
        return str(len(task) % WORDS["modulus"])
    return ["Critical", "Major", "Minor", "Trivial", "what?"][len(task) % WORDS["modulus"]]

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""
GATED = """
import pytest

@pytest.mark.puma(
    "{scenario}", strategies=["zero_shot", "option_scoring"], samples=60,
    gates=["{metric} {sign} baseline {margin}", "{other} {sign} baseline {margin}"],
)
def test_it(puma):
    pass
"""
TRIAGE = GATED.format(scenario="triage_jira", metric="f1_macro", other="accuracy", sign=">=", margin="- 0.02")
POINTS = GATED.format(scenario="estimation_tawos", metric="mae", other="within_1", sign="<=", margin="+ 0.5")


def mood(modulus: int) -> str:
    return MOODY.format(words={"modulus": modulus})


def folders(project: Project) -> list[Path]:
    """The run folders in the order of their runs."""
    runs = (project.pytester.path / ".puma" / "runs").iterdir()
    return sorted(runs, key=lambda folder: (folder / "run.json").stat().st_mtime_ns)


def compared(old: Path, new: Path) -> RunComparison:
    past = PastRun(new)
    return compare(past.run.outcomes, past.answered, Older.of_run("A", PastRun(old)), name="B")


def changes(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The changes to the baseline that the gates of a run judged, by cell and metric."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return {
        (outcome["cell"], verdict["gate"]["metric"]): verdict["change"]
        for outcome in record["outcomes"]
        for verdict in outcome["verdicts"]
    }


@pytest.mark.parametrize("test", [TRIAGE, POINTS.replace("within_1", "mae")], ids=["labels", "numbers"])
def test_two_runs_are_compared_with_the_numbers_of_a_gate_on_a_baseline(alone: Project, test: str) -> None:
    alone.write(test_it=test, conftest=mood(3))
    alone.run("--puma-update-baseline", "--puma-store=off").assert_outcomes(passed=2)
    alone.write(conftest=mood(5))
    alone.run("--puma-compare=baseline", "--puma-store=off", "--puma-flips")
    old, new = folders(alone)
    gates = changes(new)
    comparison = compared(old, new)
    by_metric = {(each.cell, each.change.metric): each.change for each in comparison.contrasts}
    assert by_metric.keys() == gates.keys() != set()
    for key, change in by_metric.items():
        for name in ("old", "new", "value", "low", "high", "n", "worse", "better", "changed"):
            number = getattr(change, name)
            assert gates[key][name] == (None if math.isnan(number) else number), (key, name)
    record = json.loads((new / "run.json").read_text(encoding="utf-8"))
    by_baseline = {(each["cell"], each["change"]["metric"]): each for each in record["contrasts"]}
    for each in comparison.contrasts:
        assert by_baseline[each.cell, each.change.metric]["p"] == each.p
        assert by_baseline[each.cell, each.change.metric]["adjusted"] == each.adjusted
    flips = {outcome["cell"]: [flip["sample_id"] for flip in outcome["flips"]] for outcome in record["outcomes"]}
    assert {cell.cell: [flip.sample_id for flip in cell.flips] for cell in comparison.cells} == flips
    assert any(flips.values())

    past, baselines = PastRun(new), Baselines(alone.pytester.path / "benchmarks" / "baselines")
    with_baseline = compare(past.run.outcomes, past.answered, Older.of_baselines(baselines), name="B")
    assert [each.change for each in with_baseline.contrasts] == [each.change for each in comparison.contrasts]


def last_line(result: pytest.RunResult) -> str:
    """The last line of the first section of pytest-puma."""
    lines = result.stdout.str().splitlines()
    start = next(place for place, line in enumerate(lines) if re.fullmatch("=+ puma =+", line))
    end = next(place for place in range(start + 1, len(lines)) if re.fullmatch("=+ .* =+", lines[place]))
    return lines[end - 1]


@ONE_PROCESS
def test_the_second_run_is_compared_with_the_last_one_and_names_the_command(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = TRIAGE.partition("gates=")[0] + ")\ndef test_it(puma):\n    pass\n"
    project.write(test_it=test, conftest=mood(3))
    first = project.run("--puma-compare=last", "--puma-store=off")
    first.assert_outcomes(passed=2)
    first.stdout.fnmatch_lines(
        ["*= puma: earlier run =*", "nothing to compare by last: this project has no earlier run"]
    )
    assert "pytest-puma compare" not in first.stdout.str()

    project.write(conftest=mood(5))
    second = project.run("--puma-compare=last", "--puma-store=off")
    second.stdout.fnmatch_lines(["*= puma: earlier run =*", "this run against run 1"])
    assert last_line(second) == "compare: pytest-puma compare last~1 last"

    command = last_line(second).partition("pytest-puma ")[2].split()
    monkeypatch.chdir(project.pytester.path)
    capsys.readouterr()
    assert main(command) == 0
    compared_lines = capsys.readouterr().out.splitlines()
    assert compared_lines[0] == "run 2 against run 1"
    shown = second.stdout.str().partition("this run against run 1\n")[2].splitlines()
    assert shown[: len(compared_lines) - 1] == compared_lines[1:], "the same table"

    assert main([*command, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    contrasts = [each for cell in data["cells"] for each in cell["contrasts"]]
    record = json.loads((folders(project)[1] / "run.json").read_text(encoding="utf-8"))
    assert record["contrasts"] == contrasts
    assert record["number"] == 2


def test_a_named_run_is_compared_and_an_unknown_one_refused(alone: Project) -> None:
    alone.write(test_it=TRIAGE, conftest=mood(3))
    alone.run().assert_outcomes(passed=2)
    result = alone.run("--puma-compare=run:1,strategy")
    result.stdout.fnmatch_lines(
        [
            "*= puma: comparison =*",
            "triage_jira-option_scoring* zero_shot *",
            "*= puma: earlier run =*",
            "this run against run 1",
            "no difference: this run and run 1 have the same answers in 2 cells",
        ]
    )
    for value, fault in {
        "run:7": "RUN '7': no such run; expected a number, *",
        "run:1,last": "expected one run; pytest-puma compare compares any two",
    }.items():
        refused = alone.run(f"--puma-compare={value}")
        assert refused.ret == 4
        refused.stderr.fnmatch_lines([f"ERROR: puma: --puma-compare *{fault}"])


def test_the_list_and_the_tables_are_those_that_the_runs_printed(
    alone: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(alone.pytester.path.parent))
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA"):
        monkeypatch.delenv(name, raising=False)
    home = alone.pytester.path
    alone.write(test_it=TRIAGE, conftest=mood(3))
    alone.run("--puma-perturb=case_upper", "--puma-compare=strategy").assert_outcomes(passed=4)
    for command in (["init", "-b", "main"], ["add", "."], ["commit", "-m", "first"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *command], cwd=home, check=True, capture_output=True)  # noqa: S603, S607
    result = alone.run("--puma-perturb=case_upper", "--puma-compare=strategy", "--puma-gate=accuracy >= 1")
    assert result.ret == 1
    (home / "conftest.py").write_text(mood(5), encoding="utf-8")
    alone.run("--puma-store=off")

    capsys.readouterr()
    monkeypatch.chdir(home)
    assert main(["list", "--json"]) == 0
    third, second, first = json.loads(capsys.readouterr().out)
    assert [row["number"] for row in (first, second, third)] == [1, 2, 3]
    assert (second["cells"], second["failed"], second["answers"], second["kept"]) == (4, 2, 240, 0)
    assert (first["invocation"]["commit"], first["invocation"]["dirty"]) == ("", False)
    assert (second["invocation"]["branch"], second["invocation"]["dirty"]) == ("main", False)
    assert third["invocation"]["commit"] == second["invocation"]["commit"]
    assert third["invocation"]["dirty"]

    assert main(["show", "main"]) == 0, "the newest clean run of the branch"
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("run 2 (")
    printed = set(result.stdout.str().splitlines())
    assert [line for line in shown[1:] if line not in printed and not re.fullmatch("=+ .* =+", line)] == []
    assert len(shown) > 20


def test_a_history_that_cannot_be_written_is_a_line_and_no_failure(alone: Project) -> None:
    alone.write(test_it=TRIAGE, conftest=mood(3))
    (alone.pytester.path / ".puma" / "history.sqlite").mkdir(parents=True)
    result = alone.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["the history cannot be written, and the run has no number: *history.sqlite*"])
    assert alone.record()["number"] is None


def test_the_command_line_of_a_run_is_kept(alone: Project) -> None:
    alone.write(test_it=TRIAGE, conftest=mood(3))
    alone.run("-k", "zero_shot or option", "--puma-samples=8")
    record = alone.record()
    assert record["invocation"]["command"].startswith("pytest -k 'zero_shot or option' --puma-samples=8 ")
    assert record["seconds"] > 0


def test_the_options_of_another_plugin_are_in_no_file_of_the_run(scripted: Project) -> None:
    option = "def pytest_addoption(parser):\n    parser.addoption('--api-key')\n"
    scripted.write(conftest=SCRIPTED + option, test_triage=TRIAGE)
    scripted.run("--api-key=sk-secret", "--puma-report=json:out.json", "--puma-samples=4").assert_outcomes(passed=2)
    folder = scripted.pytester.path
    files = [path for path in (folder / ".puma").rglob("*") if path.is_file()]
    assert {"run.json", "history.sqlite"} <= {path.name for path in files}
    assert not [path for path in (*files, folder / "out.json") if b"sk-secret" in path.read_bytes()]
    assert "--puma-samples=4" in scripted.record()["invocation"]["command"]
