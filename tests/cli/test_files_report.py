"""`pytest-puma report`: the page of a run that was, against another one."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.cli import main
from pytest_puma.core import Outcome
from pytest_puma.report.page import encoding
from pytest_puma.report.page.page import as_page
from pytest_puma.runs.comparison import compare
from pytest_puma.runs.index import History
from pytest_puma.runs.past_run import Older, PastRun
from tests.report.page.page import Page
from tests.runs.runs import MAIN, keep, triaged

CELL = "triage_jira-zero_shot@script"
OLD, NEW = "20261101T100000-1", "20261102T100000-1"


def by_length(prompt: str) -> str:
    return ("Major", "Minor", "Critical")[len(prompt) % 3]


@pytest.fixture(scope="module")
def cells() -> tuple[Outcome, Outcome]:
    return triaged(samples=40, gates=("accuracy >= 0.1",)), triaged(by_length, samples=40, gates=("accuracy >= 0.1",))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: tuple[Outcome, Outcome]) -> Path:
    monkeypatch.chdir(tmp_path)
    keep(tmp_path, OLD, [cells[0]])
    keep(tmp_path, NEW, [cells[1]], invocation=replace(MAIN, branch="feature"))
    return tmp_path


def page(root: Path, *arguments: str) -> Page:
    assert main(["report", *arguments, "-o", "out.html"]) == 0
    return Page((root / "out.html").read_text(encoding="utf-8"))


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["report", *arguments]) == 2
    return capsys.readouterr().err


def test_the_page_of_an_earlier_run_has_its_numbers_and_samples(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = page(root, "1")
    assert capsys.readouterr().out == f"{(root / 'out.html').as_uri()}\n"
    run = PastRun(root / ".puma" / "runs" / OLD).run
    assert made.index["run"]["id"] == OLD
    assert made.cell(CELL)["measures"][0]["value"] == run.outcomes[0]["f1_macro"]
    assert len(made.answers(CELL)) == 40
    assert made.index["against"] is None
    assert f"1 ({OLD})" in made.shown


def test_against_another_run_the_page_has_the_numbers_of_compare(root: Path) -> None:
    made = page(root, "last", "--against", "1")
    old, new = (PastRun(root / ".puma" / "runs" / name) for name in (OLD, NEW))
    (compared,) = compare(new.run.outcomes, new.answered, Older.of_run("run 1", old), name="run 2").cells
    (change, _) = (contrast.change for contrast in compared.contrasts)
    assert made.index["against"] == "run 1"
    shown = made.cell(CELL)["change"]
    assert (shown["metric"], shown["value"], shown["low"], shown["high"]) == (
        change.metric,
        change.value,
        change.low,
        change.high,
    )
    marked = {key for key, bits in zip(made.keys(CELL), made.flags(CELL), strict=True) if bits & encoding.FLIP_WORSE}
    assert marked == {(flip.sample_id, 0) for flip in compared.flips if not flip.better}
    assert marked
    assert made.cell(CELL)["changed"] == list(compared.differs)
    assert "Changes since run 1" in made.shown


def test_the_trend_ends_with_the_run(root: Path) -> None:
    points = page(root, "last").cell(CELL)["history"]
    assert [(each["run"], each["number"]) for each in points] == [(OLD, 1), (NEW, 2)]
    assert [each["commit"] for each in points] == ["main@3f2c1d9", "feature@3f2c1d9"]
    assert [each["number"] for each in page(root, "1").cell(CELL)["history"]] == [1]


def test_an_index_that_cannot_be_read_costs_the_trend_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError

    run = PastRun(root / ".puma" / "runs" / NEW)
    monkeypatch.setattr(History, "trend", fail)
    assert Page(as_page(run.run, run.folder)).cell(CELL)["history"] == []


def test_texts_and_size_can_be_chosen(root: Path) -> None:
    assert page(root, "last", "--all").index["left_out"] is None
    assert page(root, "last", "--texts", "none").index["left_out"] == {"texts": 40, "shortened": 0, "megabytes": None}


def test_a_run_whose_predictions_were_removed_keeps_its_summary(root: Path) -> None:
    (root / ".puma" / "runs" / NEW / "predictions.jsonl").unlink()
    made = page(root, "last", "--against", "1")
    assert made.cell(CELL)["measures"]
    assert made.flags(CELL) == []
    assert f"the samples of {CELL} are not in the run folder" in made.shown


@pytest.mark.usefixtures("root")
def test_what_cannot_be_written_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "cannot be written" in refusal(capsys, "last", "-o", "folder")
    assert "--mb is 0.1; expected a number from 1" in refusal(capsys, "last", "--mb", "0.1", "-o", "out.html")
    assert "no such run" in refusal(capsys, "nothing", "-o", "out.html")
    assert "'~nosuchuser/x': there is no user 'nosuchuser'" in refusal(capsys, "last", "-o", "~nosuchuser/x")
    assert "a path cannot contain the character NUL" in refusal(capsys, "last", "-o", "a\0b")
