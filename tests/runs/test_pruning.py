"""Older runs lose their predictions; runs that go on lose nothing."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.runs.run_order import PrunedRuns, prune
from tests.factories import outcome, run

DAYS = [f"2026010{day}T000000-1" for day in range(1, 6)]


def make(root: Path, name: str) -> RunFolder:
    folder = RunFolder(root, name)
    folder.add(outcome("triage-egi@m"))
    folder.finish(run())
    return folder


def kept(root: Path) -> list[str]:
    return sorted(path.parent.name for path in runs_of(root).glob("*/predictions.jsonl"))


def test_older_runs_lose_predictions_and_no_run_loses_its_record(tmp_path: Path) -> None:
    for name in DAYS:
        make(tmp_path, name).close()
    size = (runs_of(tmp_path) / DAYS[0] / "predictions.jsonl").stat().st_size
    assert prune(tmp_path, keep=2, protected=()) == PrunedRuns(runs=3, size=3 * size)
    assert kept(tmp_path) == DAYS[3:]
    assert sorted(path.parent.name for path in runs_of(tmp_path).glob("*/run.json")) == DAYS
    assert prune(tmp_path, keep=2, protected=()) == PrunedRuns()


def test_a_run_that_is_protected_stays_by_any_path(tmp_path: Path) -> None:
    for name in DAYS:
        make(tmp_path, name).close()
    prune(tmp_path, keep=1, protected=[runs_of(tmp_path) / ".." / "runs" / DAYS[1]])
    assert kept(tmp_path) == [DAYS[1], DAYS[4]]


def test_a_run_that_goes_on_stays(tmp_path: Path) -> None:
    going = make(tmp_path, DAYS[0])
    for name in DAYS[1:]:
        make(tmp_path, name).close()
    prune(tmp_path, keep=1, protected=())
    assert kept(tmp_path) == [DAYS[0], DAYS[4]]
    going.close()
    prune(tmp_path, keep=1, protected=())
    assert kept(tmp_path) == [DAYS[4]]


def test_a_project_without_runs_has_nothing_to_remove(tmp_path: Path) -> None:
    assert prune(tmp_path, keep=1, protected=()) == PrunedRuns()


def _prune(root: Path) -> int:
    return prune(root, keep=1, protected=()).runs


def test_runs_that_end_at_once_remove_each_file_once(tmp_path: Path) -> None:
    for number in range(60):
        make(tmp_path, f"20260101T000000-{number}").close()
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        removed = pool.map(_prune, [tmp_path] * 6)
    assert len(kept(tmp_path)) == 1
    assert sum(removed) == 59
