"""Why a cell has no baseline: nothing is stored, or its model or its file has another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import CellId, DataError
from tests.baseline.test_folder import entry

CELL = CellId("triage", "egi", "small")
NOTHING = "there is no baseline yet; --puma-update-baseline makes one"


@pytest.fixture
def stored(tmp_path: Path) -> Baselines:
    baselines = Baselines(tmp_path / "baselines")
    cells = ("triage-egi@puma-tiny", "triage-egi@a", "triage-egi+case_upper@b", "triage-rcoif@c")
    baselines.write([entry(cell) for cell in cells])
    return Baselines(baselines.folder)


def test_nothing_is_stored(tmp_path: Path) -> None:
    assert Baselines(tmp_path).why_missing(CELL) == NOTHING


def test_other_models_have_one(stored: Baselines) -> None:
    assert stored.why_missing(CELL) == (
        "there is no baseline for 'small'; there are baselines for a, puma-tiny: "
        "give the model this name, or --puma-update-baseline makes one"
    )
    assert stored.why_missing(CellId("triage", "one_shot", "a")) == NOTHING


def test_the_file_has_a_name_in_other_letters(stored: Baselines) -> None:
    (stored.folder / "triage.json").rename(stored.folder / "Triage.json")
    (stored.folder / "triage.answers.jsonl").rename(stored.folder / "Triage.answers.jsonl")
    assert Baselines(stored.folder).why_missing(CELL) == (
        f"{stored.folder} has Triage.json; expected triage.json: rename it and the file of answers beside it"
    )


@pytest.mark.parametrize("name", ["triage.json", "triage.answers.jsonl"])
@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "||||||| 3f2c1d9"])
def test_a_merge_conflict_is_named_with_its_line(stored: Baselines, name: str, marker: str) -> None:
    path = stored.folder / name
    first, *rest = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([first, marker, *rest]), encoding="utf-8")
    with pytest.raises(
        DataError, match=f"{name}, line 2: holds a merge conflict; take both files of one side, and run"
    ):
        Baselines(stored.folder).find("triage", "triage-egi@a")
