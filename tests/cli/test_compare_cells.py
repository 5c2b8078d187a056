"""`pytest-puma compare` with two cells, of the newest runs or of older ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.cli import main
from tests.factories import revised
from tests.runs.comparisons import FIRST, SECOND, by_length
from tests.runs.runs import MAIN, keep, triaged

CELL = "triage_jira-zero_shot@script"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    old = [triaged(samples=40), triaged(strategy="egi"), triaged(strategy="one_shot")]
    new = [triaged(by_length, samples=40), triaged(strategy="egi"), triaged(strategy="few_shot_3")]
    keep(tmp_path, FIRST, old)
    keep(tmp_path, SECOND, new, invocation=replace(MAIN, branch="feature"))
    return tmp_path


def output(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["compare", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out if status == 0 else captured.err


@pytest.mark.usefixtures("root")
def test_two_cells_of_any_strategy_are_compared_on_their_samples(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = "triage_jira-one_shot@script", "triage_jira-few_shot_3@script"
    assert main(["compare", old, new, "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["old"], result["new"]) == (f"{old} of run 1", f"{new} of run 2")
    (cell,) = result["cells"]
    assert (cell["cell"], cell["only_old"], cell["only_new"]) == (new, [], [])
    assert cell["contrasts"]
    assert not result["only_new"]
    assert main(["compare", old, new]) == 0
    assert capsys.readouterr().out.startswith(f"{new} of run 2 against {old} of run 1\n")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("triage_jira-one_shot@script", "triage_jira-few_shot@script", "did you mean 'triage_jira-few_shot_3@script'?"),
        (CELL, CELL, f"A and B are the same cell of run 2; for its changes: pytest-puma compare 'last~1:{CELL}' "),
        ("last", CELL, "A is 'last', and the other one a cell; expected two cells, or two runs"),
        (CELL, "last", "B is 'last', and the other one a cell; expected two cells, or two runs"),
        (f"lats:{CELL}", CELL, "RUN 'lats': no such run; "),
        (f"last~7:{CELL}", CELL, "RUN 'last~7': there are 2 finished runs"),
        (
            "1:triage_jira-few_shot_3@script",
            CELL,
            "run 1 does not have this cell; did you mean 'triage_jira-one_shot@script'? there are: triage_jira-egi@",
        ),
        (CELL, "1:triage_jira-zero@script", f"run 1 does not have this cell; did you mean '{CELL}'? there are: "),
    ],
)
def test_a_cell_that_no_run_has_is_refused(
    capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    assert message in output(capsys, old, new, status=2)


def test_cells_of_two_models_in_two_older_runs_are_compared_with_what_one_alone_has(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twenty = triaged(by_length, strategy="few_shot_3", samples=20)
    keep(root, "20261103T100000-1", [revised(twenty, name=replace(twenty.name, model="other"))])
    keep(root, "20261104T100000-1", [triaged(by_length)])
    old, new = "triage_jira-one_shot@script", "triage_jira-few_shot_3@other"
    shown = output(capsys, f"1:{old}", f"last~1:{new}")
    assert shown.startswith(f"{new} of run 3 against {old} of run 1\n")
    assert f"\nchanged: {new}: the number of samples was 12 and is 20\n" in shown
    assert f"\nonly in {new} of run 3: 8 samples: " in shown
    assert "12" in shown.splitlines()[3].split()[:4], "only samples that both have are paired"
    back = output(capsys, new, f"last~3:{old}")
    assert f"\nonly in {new} of run 3: 8 samples: " in back


def test_a_cell_is_compared_with_itself_in_an_older_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_run = json.loads(output(capsys, "1", "2", "--cells", CELL, "--format", "json"))["cells"]
    by_cell = json.loads(output(capsys, f"1:{CELL}", f"feature:{CELL}", "--format", "json"))["cells"]
    changes = [[contrast["change"] for contrast in cells[0].pop("contrasts")] for cells in (by_run, by_cell)]
    assert changes[0] == changes[1]
    assert by_cell[0]["flips"] == by_run[0]["flips"] != []
    keep(root, "20261103T100000-1", [triaged()])
    assert output(capsys, f"last~1:{CELL}", CELL).startswith(f"{CELL} of run 3 against {CELL} of run 2\n")


def test_cells_of_two_scenarios_are_compared_only_on_the_same_data(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = triaged(by_length)
    other = revised(one, name=replace(one.name, scenario="worded"))
    elsewhere = revised(other, name=replace(one.name, scenario="elsewhere"), signature={"seed": 1, "data": None})
    keep(root, "20261103T100000-1", [one, other, elsewhere])
    assert "have the same answers in 1 cell" in output(capsys, CELL, "worded-zero_shot@script")
    problem = output(capsys, CELL, "elsewhere-zero_shot@script", status=2)
    assert problem.startswith(f"pytest-puma: compare: {CELL} and elsewhere-zero_shot@script are about other samples: ")
