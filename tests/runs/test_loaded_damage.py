"""Damaged files of a run: a record is refused in a sentence, a cell that was cut off is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_puma import load_run
from pytest_puma.core import DataError
from tests.runs.loaded_runs import finished_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return finished_folder(tmp_path)


def edited(change: Callable[[str], str]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")

    return edit


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            edited(lambda text: text[:-30]),
            r"run.json: not JSON \(.*\); expected the run.json of a run: is the file truncated\?",
        ),
        (edited(lambda _: "[1]"), r"run.json: format None; expected 2, the run.json that this version of pytest-puma"),
        (edited(lambda _: '{"a": 1}'), r"run.json: format None; expected 2"),
        (edited(lambda text: text.replace('"format": 2', '"format": 7')), r"run.json: format 7; expected 2"),
        (
            Path.unlink,
            r"run.json: cannot be read \(No such file or directory\); expected the run.json that a finished run",
        ),
        (
            lambda path: path.write_bytes(b"\xff\xfe"),
            r"run.json: not JSON \(.*\); expected the run.json of a run: is the file truncated\?",
        ),
    ],
)
def test_a_damaged_record_is_refused_in_a_sentence(folder: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(folder / "run.json")
    with pytest.raises(DataError, match=f"^load_run: .*{message}"):
        load_run(folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            edited(lambda text: text.replace('"transcripts"', '"transcript"')),
            r"line 15 cannot be read \(ValidationError: Object missing required field `transcripts`\); expected a",
        ),
        (
            edited(lambda text: text.replace('"kind":"cell",', '"kind":"cell"', 1)),
            r"line 1 cannot be .*DecodeError",
        ),
        (edited(lambda text: "\n".join(text.split("\n")[14:])), r"line 1 cannot be read \(no cell before it\)"),
        (edited(lambda _: "[1]\n"), r"line 1 cannot be read \(no cell before it\)"),
        (
            Path.unlink,
            r"no such file; expected it beside run.json: load the run folder; those of older runs are removed",
        ),
    ],
)
def test_damaged_predictions_are_refused_in_a_sentence(
    folder: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(folder / "predictions.jsonl")
    loaded = load_run(folder)
    with pytest.raises(DataError, match=f"^load_run: .*predictions.jsonl: {message}"):
        _ = loaded.predictions
    assert len(loaded.verdicts) == 5


@pytest.mark.parametrize(
    ("damage", "count"),
    [
        (edited(lambda text: text[:-1]), 11),
        (edited(lambda text: text[:-30]), 11),
        (edited(lambda text: "\n".join(text.split("\n")[:-3]) + "\n"), 10),
        (edited(lambda text: "\n".join(text.split("\n")[:27])[:-30]), 0),
        (edited(lambda text: "\n".join(text.split("\n")[:26]) + "\n"), 0),
    ],
    ids=["line_feed", "line", "between_lines", "first_line", "before_the_cell"],
)
def test_a_cell_that_was_cut_off_is_left_out_with_a_warning(
    folder: Path, damage: Callable[[Path], None], count: int
) -> None:
    damage(folder / "predictions.jsonl")
    loaded = load_run(folder)
    with pytest.warns(
        UserWarning, match=rf"predictions.jsonl: {count} of the 12 predictions of .* are there; the cell"
    ):
        predictions = loaded.predictions
    assert set(predictions["strategy"]) == {"zero_shot"}
    assert len(predictions) == 12


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"n": ', '"n": "x", "m": ', "outcomes: measures: n: expected a whole number"),
        ('"metric": "accuracy"', '"metrik": "accuracy"', "outcomes: measures: metric: missing"),
        ('"limit": ', '"limit": [], "l": ', "outcomes: verdicts: gate: limit: expected a number"),
        ('"outcomes": [', '"outcomes": [7, ', "outcomes[0]: expected an object"),
        ('"format": 2', '"format": 2, "x": ' + "[" * 200 + "]" * 200, "not JSON (it is nested too deeply"),
    ],
)
def test_a_record_of_another_shape_is_refused(folder: Path, old: str, new: str, fault: str) -> None:
    path = folder / "run.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError) as refused:
        load_run(folder)
    assert str(refused.value).startswith(f"load_run: {path}: {fault}")
