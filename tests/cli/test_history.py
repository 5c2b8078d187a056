"""`pytest-puma list`, `show` and `trend` on the runs of a project, and mistakes in all commands on runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Outcome
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.report import robustness
from pytest_puma.report.comparison import contrast_lines
from pytest_puma.report.terminal import summary
from tests.cli.console import error, lines
from tests.factories import fault, measure, outcome, revised
from tests.runs.runs import MAIN, keep
from tests.runs.test_past_run import whole_run

FIRST, SECOND, THIRD = "20261101T100000-1", "20261102T100000-1", "20261103T100000-1"
CELL = "triage-zero_shot@m"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three runs: the second one is dirty, the third one another commit with other data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    keep(tmp_path, FIRST, [valued(0.5)])
    keep(tmp_path, SECOND, [valued(0.52)], invocation=replace(MAIN, dirty=True))
    later = replace(MAIN, commit="9" * 40, branch="feature")
    keep(tmp_path, THIRD, [valued(0.9, data={"sha256": "b"})], invocation=later)
    return tmp_path


def valued(value: float, **changed: Any) -> Outcome:
    signature = {"data": None, "template_sha256": "t", "seed": 1, "generation": {}, "engine": {}} | changed
    measures = {"accuracy": measure("accuracy", value, value - 0.05, value + 0.05, n=50)}
    return outcome(CELL, measures=measures | {"parse_failure_rate": measure("parse_failure_rate")}, signature=signature)


def words(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    """The cells of each row of a table, without blanks."""
    return [re.split(r"  +", line.strip()) for line in lines(capsys, *arguments)[2:]]


@pytest.mark.usefixtures("root")
def test_runs_are_listed_with_their_commits_the_newest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert words(capsys, "list") == [
        ["3", THIRD, "2026-11-25 12:00", "feature@9999999", "1", "0", "0", "50"],
        ["2", SECOND, "2026-11-25 12:00", "main@3f2c1d9 (dirty)", "1", "0", "0", "50"],
        ["1", FIRST, "2026-11-25 12:00", "main@3f2c1d9", "1", "0", "0", "50"],
    ]
    assert lines(capsys, "list", "--last", "1")[3:] == ["2 older runs; --last 3 shows all"]


def test_a_run_that_was_cut_off_is_listed_where_it_began(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs_of(root) / "20261102T110000-1").mkdir()
    assert [row[:4] for row in words(capsys, "list")][1:3] == [
        ["-", "20261102T110000-1", "2026-11-02 11:00", "cut off"],
        ["2", SECOND, "2026-11-25 12:00", "main@3f2c1d9 (dirty)"],
    ]
    assert "was cut off, so it has no run.json" in error(capsys, "show", "20261102T110000-1")


@pytest.mark.usefixtures("root")
def test_the_list_as_json_has_every_run(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads("\n".join(lines(capsys, "list", "--json")))
    assert [row["number"] for row in rows] == [3, 2, 1]
    assert rows[1]["invocation"] == asdict(replace(MAIN, dirty=True))


def test_the_tables_of_a_run_are_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = whole_run()
    tables = {
        name: getattr(whole, name) for name in ("verdicts", "robustness", "unchanged", "contrasts", "rescored_from")
    }
    keep(tmp_path, FIRST, whole.outcomes, **tables)
    shown = lines(capsys, "show", "last")
    assert shown[0] == f"run 1 ({FIRST}), main@3f2c1d9, 2026-11-25 12:00 UTC"
    table = summary(whole, f".puma/runs/{FIRST}", 80)
    assert shown[1 : len(table) + 2] == [" puma ".center(80, "="), *table]
    assert set(robustness.lines(whole, 80)) | set(contrast_lines(whole.contrasts, 80)) <= set(shown)


@pytest.mark.usefixtures("root")
def test_a_trend_marks_real_changes_and_what_changed_besides(capsys: pytest.CaptureFixture[str]) -> None:
    _, first, *rows = words(capsys, "trend")
    assert first == ["1", "2026-11-25 12:00", "main@3f2c1d9", "50", "0.5", "[0.45, 0.55]"]
    assert rows[0][4:] == ["0.52", "[0.47, 0.57]", "+0.02", "[-0.0507, 0.0907]"]
    assert rows[1][4:] == ["0.9", "[0.85, 0.95]", "+0.38", "[0.309, 0.451]", "better", "the data"]
    assert lines(capsys, "trend", "--cells", "*zero*", "--metric", "accuracy", "--last", "2")[0] == f"{CELL}: accuracy"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["show", "mian"], "RUN 'mian': no such run; did you mean 'main'? expected a number, a name or its beginning"),
        (["show", "last~3"], "RUN 'last~3': there are 3 finished runs; pytest-puma list shows them"),
        (["trend", "--cells", "tirage*"], "--cells 'tirage*': matches no cell; "),
        (["trend", "--metric", "acuracy"], "--metric 'acuracy': no such metric; did you mean 'accuracy'? there are: "),
        (["trend", "--last", "0"], "--last is 0; expected a whole number, at least 1"),
        (["list", "--last", "-1"], "--last is -1; expected a whole number, at least 1"),
        (
            ["list", "--project", "elsewhere"],
            "found no runs in elsewhere/.puma/runs; run a benchmark first",
        ),
        (
            ["export", "last", "-o", "run.xlsx"],
            "-o run.xlsx: the suffix '.xlsx' is unknown; expected one of .csv",
        ),
        (["export", "last", "-o", ".puma"], "-o .puma: the suffix '' is unknown"),
        (["export", "last", "-o", "a.csv/run.csv"], "-o a.csv/run.csv: "),
    ],
)
def test_a_mistake_is_one_sentence_that_says_what_to_do(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str
) -> None:
    (root / "a.csv").touch()
    assert error(capsys, *arguments).startswith(f"pytest-puma: {fault}")


def test_a_damaged_run_is_one_sentence(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = runs_of(root) / THIRD / "run.json"
    path.write_text(path.read_text(encoding="utf-8")[:99], encoding="utf-8")
    fault = f"RUN '{THIRD}': the run has a run.json that cannot be read; run again"
    assert error(capsys, "show", THIRD) == f"pytest-puma: {fault}\n"
    assert words(capsys, "list")[0] == ["-", THIRD, "2026-11-03 10:00", "damaged"]
    assert lines(capsys, "show", "last")[0].startswith("run 2 ")


def test_outside_of_a_project_the_command_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert error(capsys, "list").startswith("pytest-puma: found no runs in .puma/runs; run a benchmark first")
    assert not (tmp_path / ".puma").exists()


def test_a_project_is_found_from_a_folder_in_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "benchmarks").mkdir()
    monkeypatch.chdir(root / "benchmarks")
    assert len(words(capsys, "list")) == 3


def test_names_of_a_project_cannot_act_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = revised(valued(0.5), scenario="::error::\x1b[2J", strategy="x", model="\x1b[31m", node_id="n")
    keep(tmp_path, FIRST, [evil], invocation=replace(MAIN, branch="\x1b[2J\u202e"))
    for arguments in (["list"], ["show", "1"], ["trend"]):
        text = "\n".join(lines(capsys, *arguments))
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n::" not in text


def test_a_run_without_an_outcome_is_listed_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    keep(tmp_path, FIRST, [], faults=(fault("triage-x@m"),))
    assert words(capsys, "list")[0][-4:] == ["0", "1", "0", "0"]
    assert lines(capsys, "show", "1")[0].startswith("run 1 (")
    assert "matches no cell; there are: none" in error(capsys, "trend")


@pytest.mark.usefixtures("root")
def test_a_list_waits_for_no_heavy_library() -> None:
    heavy = {"pandas", "scipy", "pytest", "llama_cpp"}
    code = f"import sys; from pytest_puma.cli import main; main(['list']); print(sorted({heavy} & sys.modules.keys()))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout.splitlines()[-1] == "[]"
