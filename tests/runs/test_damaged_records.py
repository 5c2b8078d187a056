"""Files of a run folder of which a part has another type: each reader names the file, and raises nothing else."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pytest_puma import load_run
from pytest_puma.core import DataError
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page.page import as_page
from pytest_puma.runs.comparison import compare
from pytest_puma.runs.index import History
from pytest_puma.runs.past_run import Older, PastRun
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.runs.run_order import PREDICTIONS, RECORD
from tests.runs.runs import keep, triaged

#: In place of any part of a file; the last one removes it.
WRONG: tuple[Any, ...] = (None, "x", 3, -1.5, True, [], {}, [None], {"a": None}, [[1]], 10**400, ...)
_Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name, answer in (("old", "Major"), ("new", "Minor")):
        keep(root, name, [triaged(answer), triaged(answer, strategy="option_scoring")])
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "project"))


def parts(value: Any, path: _Path = ()) -> Iterator[_Path]:
    """The path of each part of a JSON value; of a list only the first one, as all are alike."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in inner:
        yield from parts(part, (*path, name))


def damaged(value: Any, path: _Path, wrong: object) -> Any:
    if not path:
        return wrong
    copy = deepcopy(value)
    holder = copy
    for name in path[:-1]:
        holder = holder[name]
    if wrong is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = wrong
    return copy


def cases(value: Any, each: int) -> Iterator[Any]:
    """Every part with some wrong values: all of them would take minutes."""
    pairs = [(path, wrong) for path in parts(value) for wrong in WRONG if path or wrong is not ...]
    return (damaged(value, path, wrong) for path, wrong in pairs[::each])


def frames(root: Path) -> None:
    run = load_run(root / ".puma" / "runs" / "new")
    _ = run.measures, run.verdicts, run.predictions


def past(root: Path, name: str = "new") -> PastRun:
    return PastRun(root / ".puma" / "runs" / name)


def page(root: Path) -> None:
    as_page(past(root).run, past(root).folder, PageSettings())


def comparison(root: Path) -> None:
    compare(past(root).run.outcomes, past(root).answered, Older.of_run("old", past(root, "old")), name="new")


def other_way(root: Path) -> None:
    older = Older.of_run("new", past(root))
    _ = older.cells
    compare(past(root, "old").run.outcomes, past(root, "old").answered, older, name="old")


def conversations(root: Path) -> None:
    run = RecordedRun(root / ".puma" / "runs" / "new" / PREDICTIONS)
    for cell in run.cells.values():
        run.conversations(cell)


def check(read: Callable[[Path], None], root: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            read(root)
        except DataError as error:
            assert name in str(error)  # noqa: PT017 - of those that are raised


@pytest.mark.parametrize("read", [frames, page, comparison, other_way])
def test_a_wrong_part_of_a_record_is_named(root: Path, read: Callable[[Path], None]) -> None:
    file = root / ".puma" / "runs" / "new" / RECORD
    for data in cases(json.loads(file.read_text(encoding="utf-8")), 101):
        file.write_text(json.dumps(data), encoding="utf-8")
        check(read, root, RECORD)


@pytest.mark.parametrize("read", [frames, page, comparison, other_way, conversations])
@pytest.mark.parametrize("line", [0, 1])
def test_a_wrong_part_of_a_line_is_named(root: Path, read: Callable[[Path], None], line: int) -> None:
    file = root / ".puma" / "runs" / "new" / PREDICTIONS
    lines = file.read_text(encoding="utf-8").splitlines()
    for data in cases(json.loads(lines[line]), 61):
        file.write_text("\n".join([*lines[:line], json.dumps(data), *lines[line + 1 :], ""]), encoding="utf-8")
        check(read, root, PREDICTIONS)


def test_predictions_of_an_earlier_format_are_named_by_every_reader(root: Path) -> None:
    """Before transcripts, a line had the texts and the requests of a conversation as lists of its own."""
    file = past(root).folder / PREDICTIONS
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if (transcripts := line.pop("transcripts", None)) is not None:
            turns = transcripts["model"]
            line |= {"raw": [turn.get("text", "") for turn in turns], "finish": turns[-1]["finish"], "logprobs": []}
            line |= {"prompts": [turn.get("prompt") for turn in turns], "usage": {}, "responses": [{"seen": True}]}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    sentence = (
        f"{file} is of an earlier format of pytest-puma, without transcripts; "
        "run the benchmarks again: kept answers are not computed again"
    )
    for read in (frames, page, conversations, other_way):
        with pytest.raises(DataError, match=re.escape(sentence)):
            read(root)
    result = compare(past(root).run.outcomes, past(root).answered, Older.of_run("old", past(root, "old")), name="new")
    assert {cell.why for cell in result.cells} == {sentence}


def test_an_index_leaves_out_a_damaged_record(root: Path) -> None:
    file = root / ".puma" / "runs" / "new" / RECORD
    for data in cases(json.loads(file.read_text(encoding="utf-8")), 101):
        file.write_text(json.dumps(data), encoding="utf-8")
        with closing(History(root)) as history:
            assert {row.name for row in history.runs()} in ({"old"}, {"old", "new"})
