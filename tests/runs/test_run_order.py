"""The order of runs is that in which they began, whatever their names say."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.runs.run_order import RECORD, newest_run, oldest_first
from tests.disk import limited
from tests.factories import run

CLOCKS = ("20990101T000000-1", "19990101T000000-1", "20260101T000000-1")


def make(root: Path, name: str) -> Path:
    folder = RunFolder(root, name)
    folder.finish(run())
    folder.close()
    return folder.path


def order(root: Path) -> list[str]:
    return [path.parent.name for path in oldest_first(runs_of(root), RECORD)]


def test_a_clock_that_was_wrong_hides_no_newer_run(tmp_path: Path) -> None:
    for name in CLOCKS:
        folder = make(tmp_path, name)
        assert newest_run(runs_of(tmp_path)) == folder / RECORD
    assert order(tmp_path) == [*CLOCKS]
    assert (tmp_path / ".puma" / "runs.txt").read_text(encoding="utf-8").split() == [*CLOCKS]


def test_folders_that_are_not_listed_are_older_in_the_order_of_their_names(tmp_path: Path) -> None:
    names = ["20260102T000000-9", "20260102T000000-10", "20260101T000000-5", "20990101T000000-1"]
    for place, name in enumerate(names):
        os.utime(make(tmp_path, name) / RECORD, ns=(place, place))
    (tmp_path / ".puma" / "runs.txt").unlink()
    make(tmp_path, "20250101T000000-1")
    # The second of the name, then the time of the file.
    assert order(tmp_path) == [names[2], names[0], names[1], names[3], "20250101T000000-1"]


def test_a_folder_that_is_made_again_is_listed_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "20250101T000000-1")
    make(tmp_path, "20260101T000000-1")
    for path in sorted((tmp_path / ".puma").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    make(tmp_path, "20260101T000000-1")
    folder.finish(run())
    folder.close()
    assert order(tmp_path) == ["20260101T000000-1", "20250101T000000-1"]


def test_a_list_that_cannot_be_written_or_read_costs_the_order_alone(tmp_path: Path) -> None:
    make(tmp_path, CLOCKS[0])
    with limited(len(CLOCKS[0]) + 5):
        folder = RunFolder(tmp_path, CLOCKS[1])
    folder.finish(run())
    folder.close()
    make(tmp_path, CLOCKS[2])
    assert order(tmp_path) == [CLOCKS[1], CLOCKS[0], CLOCKS[2]]
    listed = tmp_path / ".puma" / "runs.txt"
    listed.write_bytes(b"\xff\n\n" + listed.read_bytes())
    assert order(tmp_path) == [CLOCKS[1], CLOCKS[0], CLOCKS[2]]
    listed.unlink()
    listed.mkdir()
    make(tmp_path, "20260102T000000-1")
    assert order(tmp_path) == [CLOCKS[1], CLOCKS[2], "20260102T000000-1", CLOCKS[0]]


def _make(root: Path, number: int) -> None:
    make(root, f"20260101T000000-{number}")


@pytest.mark.parametrize("processes", [4])
def test_runs_that_begin_at_once_are_all_listed(tmp_path: Path, processes: int) -> None:
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(_make, [(tmp_path, number) for number in range(40)])
    listed = (tmp_path / ".puma" / "runs.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(listed) == sorted(path.name for path in runs_of(tmp_path).iterdir())
