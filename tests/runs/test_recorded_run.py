"""Earlier runs, as `--puma-rescore` finds and reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import CellId, DataError, Message, Response
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.recorded_run import RecordedRun, find_recorded
from pytest_puma.runs.run_folder import RunFolder
from tests.factories import outcome, prediction

SHARED = (Message(role="user", content="How urgent? "),)
SIGNATURE = {"samples": 2, "seed": 42, "generation": {"temperature": 0.0}, "engine": {}, "data": None}


def make(root: Path, name: str, *cells: str) -> Path:
    """A run folder with two predictions of each cell; each attempt answers otherwise."""
    folder = RunFolder(root, name)
    for attempt, cell in enumerate(cells, start=1):
        predictions = [
            prediction(
                sample_id=sample,
                raw=(f"{sample}{attempt}",),
                prompts=((Message(role="user", content=f"About {sample}."),),),
            )
            for sample in ("a", "b")
        ]
        names = {"node_id": f"tests/test_a.py::test_{attempt}[{cell}]", "attempt": attempt}
        folder.add(outcome(cell, predictions=predictions, shared_prompts=(SHARED,), signature=SIGNATURE, **names))
    folder.close()
    return folder.path


def test_the_cells_of_a_run_have_names_tests_and_places(tmp_path: Path) -> None:
    run = RecordedRun(make(tmp_path, "r", "triage-egi@m", "triage-egi+case_upper@m") / "predictions.jsonl")
    assert run.name == "r"
    assert [(cell.name, cell.test, cell.line) for cell in run.cells.values()] == [
        (CellId("triage", "egi", "m"), "tests/test_a.py::test_1", 1),
        (CellId("triage", "egi", "m", "case_upper"), "tests/test_a.py::test_2", 4),
    ]


def test_the_conversations_of_a_cell_have_whole_prompts(tmp_path: Path) -> None:
    run = RecordedRun(make(tmp_path, "r", "triage-egi@m", "triage-rcoif@m") / "predictions.jsonl")
    conversations = run.conversations(run.cells["triage-egi@m"])
    assert list(conversations) == [("a", 0), ("b", 0)]
    (turn,) = conversations["b", 0]
    assert turn.prompt == (Message(role="user", content="How urgent? About b."),)
    assert (turn.response, turn.continuations) == (Response(text="b1"), ())


def test_of_several_attempts_the_last_counts(tmp_path: Path) -> None:
    run = RecordedRun(make(tmp_path, "r", "triage-egi@m", "triage-rcoif@m", "triage-egi@m") / "predictions.jsonl")
    assert list(run.cells) == ["triage-egi@m", "triage-rcoif@m"]
    assert run.conversations(run.cells["triage-egi@m"])["a", 0][0].response.text == "a3"


@pytest.mark.parametrize(
    "argument", ["20260102T000000-7", "{folder}", "{folder}/run.json", "{folder}/predictions.jsonl"]
)
def test_a_run_is_found_by_its_name_or_path(tmp_path: Path, argument: str) -> None:
    make(tmp_path, "20260101T000000-9", "triage-egi@m")
    folder = make(tmp_path, "20260102T000000-7", "triage-egi@m")
    (folder / "run.json").touch()
    make(tmp_path, "20260103T000000-1", "triage-egi@m")
    run = find_recorded(argument.format(folder=folder), tmp_path, tmp_path)
    assert run == RecordedRun(folder / "predictions.jsonl")


def test_a_relative_path_is_one_from_the_folder_of_the_user(tmp_path: Path) -> None:
    folder = make(tmp_path, "r", "triage-egi@m")
    assert find_recorded("runs/r", tmp_path / "none", tmp_path / ".puma") == RecordedRun(folder / "predictions.jsonl")


def test_the_last_run_is_the_one_that_began_last(tmp_path: Path) -> None:
    for name in ("20260102T000000-9", "20260103T000000-1", "20260101T000000-5"):
        make(tmp_path, name, "triage-egi@m")
    make(tmp_path, "20270101T000000-1")  # without predictions
    newest = runs_of(tmp_path) / "20260101T000000-5" / "predictions.jsonl"
    assert find_recorded("last", tmp_path, tmp_path) == RecordedRun(newest)


@pytest.mark.parametrize("argument", ["last", "20260106T000000-1", "2"])
def test_an_argument_that_means_no_folder_of_a_run_is_an_error(tmp_path: Path, argument: str) -> None:
    with pytest.raises(DataError, match=rf"^found no predictions\.jsonl in a folder of this name; RUN '{argument}': "):
        find_recorded(argument, tmp_path, tmp_path)


def changed(file: Path, line: int, change: Any) -> RecordedRun:
    """The run after a change of one of its lines."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[line - 1] = change(lines[line - 1])
    file.write_text("".join(lines), encoding="utf-8")
    return RecordedRun(file)


def without(*names: str) -> Any:
    def change(line: str) -> str:
        return json.dumps({name: value for name, value in json.loads(line).items() if name not in names}) + "\n"

    return change


WROTE = "expected a line that this version of pytest-puma wrote: is the file truncated?"


@pytest.mark.parametrize(
    ("line", "change", "problem"),
    [
        (3, lambda line: f"{line[:50]}\n", "line 3 cannot be read (DecodeError: "),
        (
            3,
            without("sample_id"),
            f"line 3 cannot be read (ValidationError: Object missing required field `sample_id`); {WROTE}",
        ),
        (2, without("transcripts"), "line 2 cannot be read (ValidationError: Object missing required field `transcr"),
        (
            2,
            lambda line: line.replace('"text":"a1"', '"text":5'),
            "line 2 cannot be read (ValidationError: Expected `str`, got `int` - at `$.transcripts[...][0].text`)",
        ),
        (
            2,
            lambda line: line.replace('"gold"', f'"fields":{{"x":{"[" * 5000 + "]" * 5000}}},"gold"'),
            "line 2 cannot be read (RecursionError: ",
        ),
        (
            2,
            lambda line: line.replace('"model":[', '"model":[{"prompt":[],"finish":"stop"},'),
            "line 2 cannot be read (ValueError: found a prompt without a message; expected up to 1, as its cell",
        ),
    ],
)
def test_a_damaged_prediction_is_reported_with_its_line(tmp_path: Path, line: int, change: Any, problem: str) -> None:
    run = changed(make(tmp_path, "r", "triage-egi@m") / "predictions.jsonl", line, change)
    with pytest.raises(DataError, match=f"^{re.escape(f'{run.path}: {problem}')}"):
        run.conversations(run.cells["triage-egi@m"])


@pytest.mark.parametrize("name", ["cell", "node_id", "signature", "prompts"])
def test_a_damaged_cell_is_reported_with_its_line(tmp_path: Path, name: str) -> None:
    run = changed(make(tmp_path, "r", "triage-egi@m") / "predictions.jsonl", 1, without(name))
    with pytest.raises(DataError, match=rf"line 1 cannot be read \(ValidationError: Object missing .* `{name}`"):
        _ = run.cells


def test_a_file_without_cells_or_that_is_gone_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    with pytest.raises(DataError, match=r"no such file; expected it beside run.json"):
        _ = RecordedRun(file).cells
    file.touch()
    with pytest.raises(DataError, match=r"no cell in it; expected the predictions of a run: run again"):
        _ = RecordedRun(file).cells
    file.write_text("{}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1 cannot be read \(no cell before it\); expected a line that this"):
        _ = RecordedRun(file).cells


def test_the_cell_in_which_a_run_was_killed_is_left_out(tmp_path: Path) -> None:
    """Wherever the file ends."""
    file = make(tmp_path, "r", "triage-egi@m", "triage-rcoif@m") / "predictions.jsonl"
    data = file.read_bytes()
    first = len(b"".join(data.splitlines(keepends=True)[:3]))
    for end in range(first, len(data), 7):
        file.write_bytes(data[:end])
        run = RecordedRun(file)
        assert (list(run.cells), len(run.cut_off)) == (["triage-egi@m"], int(end > first))
        assert list(run.conversations(run.cells["triage-egi@m"])) == [("a", 0), ("b", 0)]
    file.write_bytes(data[: first - 1])
    with pytest.raises(DataError, match=r"no whole cell in it; triage-egi@m is cut off after 1 of its 2 predictions"):
        _ = RecordedRun(file).cells


#: Places where a file of two cells with two predictions each may be cut off, as lines and characters of the next one.
CUTS = [(3, 1), (3, 200), (4, 0), (4, 30), (5, 0), (5, 100)]


@pytest.mark.parametrize(("lines", "characters"), CUTS)
def test_a_cell_that_was_cut_off_is_left_out_with_a_sentence(tmp_path: Path, lines: int, characters: int) -> None:
    file = make(tmp_path, "r", "triage-egi@m", "triage-rcoif@m") / "predictions.jsonl"
    whole = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(whole[:lines]) + whole[lines][:characters], encoding="utf-8")
    run = RecordedRun(file)
    assert list(run.cells) == ["triage-egi@m"]
    assert [turns[0].response.text for turns in run.conversations(run.cells["triage-egi@m"]).values()] == ["a1", "b1"]
    first = "line 4 of predictions.jsonl, the first one of a cell, is cut off"
    later = f"triage-rcoif@m is cut off after {lines - 4} of its 2 predictions in predictions.jsonl"
    assert run.cut_off == (f"{first if lines == 3 else later}; the cell is left out",)


def test_of_several_attempts_the_last_whole_one_counts(tmp_path: Path) -> None:
    file = make(tmp_path, "r", "triage-egi@m", "triage-egi@m") / "predictions.jsonl"
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    run = RecordedRun(file)
    assert run.conversations(run.cells["triage-egi@m"])["a", 0][0].response.text == "a1"


def test_a_run_without_prompts_cannot_be_read_again_and_says_why(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r", keep_prompts=False)
    folder.add(outcome("triage-egi@m", node_id="t", signature=SIGNATURE))
    folder.close()
    with pytest.raises(
        DataError, match=r"predictions.jsonl: the run kept no prompts \(ini key puma_keep_prompts\), so"
    ):
        _ = RecordedRun(folder.path / "predictions.jsonl").cells


def test_a_run_whose_predictions_were_removed_is_an_error_that_says_why(tmp_path: Path) -> None:
    (make(tmp_path, "r", "triage-egi@m") / "run.json").touch()
    (runs_of(tmp_path) / "r" / "predictions.jsonl").unlink()
    removed = "found no predictions.jsonl of this run; those of older runs are removed (ini key puma_keep_runs)"
    with pytest.raises(DataError, match=f"^{re.escape(removed)}, and a run in which .* has none$"):
        find_recorded("r", tmp_path, tmp_path)
    for day in range(1, 6):
        make(tmp_path, f"2026010{day}T000000-1", "triage-egi@m")
    newest = "the newest runs are 20260105T000000-1, 20260104T000000-1, 20260103T000000-1"
    with pytest.raises(DataError, match=f"^{re.escape(removed)}.*; {newest}$"):
        find_recorded("r", tmp_path, tmp_path)
