"""A folder `.puma` from elsewhere: its links lead to files of the user, its pipes never end, and none is followed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pytest_puma import load_run
from pytest_puma.core import DataError, Model, Speed
from pytest_puma.platform.locks import locked
from pytest_puma.platform.project_folder import make_private, responses_of, runs_of
from pytest_puma.responses.opening import open_to_read, open_to_write
from pytest_puma.runs.index import NAME, History
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, oldest_first, prune
from pytest_puma.runs.throughput import read_throughput, write_throughput
from tests.factories import outcome
from tests.runs.runs import keep, triaged

MODEL = Model(name="m", path=Path("m.gguf"), stamps=())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_private(tmp_path / "project" / ".puma")


def measure(root: Path) -> None:
    speed = Speed(prefill_tokens=9, prefill_seconds=1.0)
    measured = outcome("triage-egi@m", signature={"engine": {"weights_sha256": "5a"}}, speed=speed)
    write_throughput(root, [MODEL], [measured], day="2026-11-27")


def index(root: Path) -> None:
    with closing(History(root)) as history:
        history.runs()


def run_again(root: Path) -> None:
    RunFolder(root, "r").close()


def lock(root: Path) -> None:
    with locked(root / ".puma"):
        pass


def store(root: Path) -> None:
    for opened in (open_to_write(responses_of(root)), open_to_read(responses_of(root))):
        if opened.connection is not None:
            opened.connection.close()


#: What a run and the command write into the folder, by the name of the file.
WRITERS: dict[str, Callable[[Path], object]] = {
    "throughput.json": measure,
    "runs.txt": run_again,
    "runs": run_again,
    ".gitignore": run_again,
    ".lock": lock,
    NAME: index,
    "responses.sqlite": store,
}


@pytest.mark.parametrize("content", [b"", b"mine\n"])
@pytest.mark.parametrize("name", WRITERS)
def test_no_link_in_the_folder_is_written_through(folder: Path, name: str, content: bytes) -> None:
    victim = folder.parent.parent / "victim"
    victim.write_bytes(content)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    with suppress(OSError):
        WRITERS[name](folder.parent)
    assert victim.read_bytes() == content
    victim.unlink()
    with suppress(OSError):
        WRITERS[name](folder.parent)
    assert not victim.exists()


@pytest.mark.parametrize("name", ["throughput.json", "runs.txt", NAME, "responses.sqlite"])
def test_a_pipe_in_the_folder_is_refused_in_place_of_read_for_ever(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    with suppress(OSError):
        WRITERS[name](folder.parent)
    assert (folder / name).is_fifo()
    with suppress(OSError):
        read_throughput(folder.parent, MODEL)
    assert oldest_first(folder / "runs", RECORD) == []


def test_a_pipe_in_a_run_folder_is_a_sentence(folder: Path) -> None:
    run = folder / "runs" / "r"
    run.mkdir(parents=True)
    for name in (RECORD, PREDICTIONS):
        os.mkfifo(run / name)
    for read in (lambda: PastRun(run).run, lambda: load_run(run), lambda: RecordedRun(run / PREDICTIONS).cells):
        with pytest.raises(DataError, match=r"cannot be read \(a pipe or a device in place of a file"):
            read()


def test_the_tables_of_a_database_behind_a_link_stay(folder: Path) -> None:
    victim = folder.parent.parent / "victim.sqlite"
    with closing(sqlite3.connect(victim)) as connection, connection:
        connection.execute("CREATE TABLE run(x)")
        connection.execute("INSERT INTO run VALUES (42)")
    keep(folder.parent, "r", [triaged()])
    (folder / NAME).symlink_to(victim)
    with closing(History(folder.parent)) as history:
        assert [row.name for row in history.runs()] == ["r"]
    with pytest.raises(OSError, match="a link in place of a file; remove it"):
        History(folder.parent, in_memory=False)
    with closing(sqlite3.connect(victim)) as connection:
        assert connection.execute("SELECT x FROM run").fetchall() == [(42,)]


def test_predictions_behind_a_link_are_not_pruned(folder: Path) -> None:
    other = folder.parent.parent / "other"
    for root, name in ((other, "theirs"), (folder.parent, "mine"), (folder.parent, "newest")):
        keep(root, name, [triaged()])
    (folder / "runs" / "linked").symlink_to(runs_of(other) / "theirs")
    assert prune(folder.parent, keep=1, protected=[]).runs == 1
    assert (runs_of(other) / "theirs" / PREDICTIONS).exists()
    assert not (folder / "runs" / "mine" / PREDICTIONS).exists()


def test_a_folder_that_is_a_link_itself_is_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".puma").symlink_to(tmp_path / "disk")
    keep(tmp_path / "project", "r", [triaged()])
    measure(tmp_path / "project")
    index(tmp_path / "project")
    store(tmp_path / "project")
    names = {"runs", "runs.txt", "throughput.json", NAME, "responses.sqlite", ".gitignore"}
    assert names <= {file.name for file in (tmp_path / "disk").iterdir()}
