"""A file that cannot be written or read ends no run: it is reported. Without a run folder, the gates decide."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.conftest import SCRIPTED, TRIAGE, Project

#: Takes the place of files that are written when all cells have run.
IN_THE_WAY = """
import pathlib
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= 0.1"])
def test_triage(puma):
    for name in {names}:
        (pathlib.Path({root!r}) / name).mkdir(parents=True)
"""


def runs(project: Project) -> list[Path]:
    return sorted((project.pytester.path / ".puma" / "runs").iterdir())


def test_a_file_that_cannot_be_written_at_the_end_is_reported_and_the_others_are_written(scripted: Project) -> None:
    root = str(scripted.pytester.path)
    names = ["out.md", "benchmarks/baselines/triage_jira.json", ".puma/throughput.json"]
    scripted.write(test_triage=IN_THE_WAY.format(names=names, root=root))
    result = scripted.run(
        "--puma-update-baseline", "--puma-report=md:out.md", "--puma-report=json:out.json", "--puma-report=csv:out.csv"
    )
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    result.stdout.fnmatch_lines(
        [
            "puma: *triage_jira.json*",
            "puma: --puma-report md:*out.md cannot be written: *",
            "triage_jira *zero_shot *",
            "* accuracy *PASS*",
            "report: *out.json",
            "FAILED puma::run*",
        ]
    )
    assert any("out.md cannot be written" in problem for problem in scripted.record()["problems"])
    assert [outcome["cell"] for outcome in json.loads((Path(root) / "out.json").read_text())["outcomes"]] == [
        "triage_jira-zero_shot@tiny"
    ]
    assert (Path(root) / "out.csv").is_file()


def test_a_project_that_cannot_be_written_is_named_at_the_start_and_judged_by_its_gates(scripted: Project) -> None:
    gates = ', gates=["accuracy >= {}"])'
    for limit, code in (("0.1", 0), ("0.99", 1)):
        scripted.write(test_triage=TRIAGE.replace(")\ndef", gates.format(limit) + "\ndef", 1))
        (scripted.pytester.path / ".puma").touch()
        result = scripted.run("--puma-report=json:out.json")
        assert result.ret == code
        result.stdout.no_fnmatch_line("*INTERNALERROR*")
        result.stdout.fnmatch_lines(
            ["puma: * is not a folder: the run keeps nothing, and its tables are in this terminal", "* accuracy *"]
        )
        assert json.loads((scripted.pytester.path / "out.json").read_text(encoding="utf-8"))["problems"] == []


def test_a_folder_that_cannot_be_made_although_it_seemed_so_is_a_line_at_the_end(alone: Project) -> None:
    planted = "import pathlib\n\ndef pytest_runtest_setup(item):\n    pathlib.Path('.puma').touch()\n"
    alone.write(test_triage=TRIAGE, conftest=SCRIPTED + planted)
    result = alone.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["* f1_macro *", "the run keeps nothing: *.puma*"])


def test_baselines_that_cannot_be_written_are_refused_before_the_run(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    (alone.pytester.path / "benchmarks").touch()
    result = alone.run("--puma-update-baseline")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: puma: --puma-update-baseline: *benchmarks is not a folder; expected a folder *"]
    )


def test_a_truncated_record_is_reported_with_its_path(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run().assert_outcomes(passed=1)
    path = alone.folder / "run.json"
    path.write_text(path.read_text(encoding="utf-8")[:200], encoding="utf-8")
    result = alone.run("--puma-only-flips")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: puma: --puma-only-flips: {path}: not JSON (*; run again"])


def test_runs_of_one_process_in_one_second_have_folders_of_their_own(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    for _ in range(6):
        alone.run().assert_outcomes(passed=1)
    assert len(runs(alone)) == 6
    for folder in runs(alone):
        assert len((folder / "predictions.jsonl").read_text(encoding="utf-8").split("\n")) == 10
        assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["id"] == folder.name
