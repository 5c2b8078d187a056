"""The run to rescore: by its folder, or by a name that `pytest-puma list` shows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.recorded_run import find_recorded
from tests.runs.runs import MAIN, keep, triaged

FIRST, SECOND, CUT_OFF = "20261101T100000-1", "20261102T100000-1", "20261103T100000-1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with two finished runs, and a newer one that was cut off."""
    outcomes = [triaged(samples=2)]
    keep(tmp_path, FIRST, outcomes)
    keep(tmp_path, SECOND, outcomes, invocation=replace(MAIN, branch="feature"))
    keep(tmp_path, CUT_OFF, outcomes)
    (runs_of(tmp_path) / CUT_OFF / "run.json").unlink()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1", FIRST),
        ("2", SECOND),
        ("last~0", SECOND),
        ("last~1", FIRST),
        ("20261101", FIRST),
        ("main", FIRST),
        ("feature", SECOND),
        ("last", CUT_OFF),
        (CUT_OFF, CUT_OFF),
        (f".puma/runs/{FIRST}", FIRST),
    ],
)
def test_a_run_has_a_number_names_and_a_folder(root: Path, text: str, name: str) -> None:
    assert find_recorded(text, root, root).name == name


def test_a_folder_comes_before_a_number(root: Path) -> None:
    (runs_of(root) / SECOND).rename(root / "1")
    assert find_recorded("1", root, root).path == root / "1" / "predictions.jsonl"
    assert find_recorded("1", root, root / "elsewhere").name == FIRST


def test_a_run_whose_predictions_were_removed_is_refused_by_any_name(root: Path) -> None:
    (runs_of(root) / FIRST / "predictions.jsonl").unlink()
    for text in ("1", "last~1", FIRST):
        with pytest.raises(
            DataError, match=f"^found no predictions.jsonl of this run; .*; the newest runs are {CUT_OFF}"
        ):
            find_recorded(text, root, root)


def test_a_text_that_means_no_run_is_an_error_that_names_similar_ones(root: Path) -> None:
    message = (
        "found no predictions.jsonl in a folder of this name; RUN 'mian': no such run; did you mean 'main'? expected "
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}.*; the newest are 2 "):
        find_recorded("mian", root, root)


def test_without_runs_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no finished run: run a benchmark first$"):
        find_recorded("last", tmp_path, tmp_path)
    assert not list(tmp_path.iterdir())
