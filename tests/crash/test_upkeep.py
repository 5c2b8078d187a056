"""The upkeep of the store, killed in the middle of each of its steps: it opens, and nothing is lost."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from pytest_puma.core import Generate, Message, Prompt, Response
from pytest_puma.responses.database import EngineRow, ResponseStore
from pytest_puma.responses.opening import open_to_write
from pytest_puma.responses.upkeep import prune
from tests.crash.amount import part
from tests.crash.project import ROOT, running

ENGINE = EngineRow("5a", "m", {"weights_sha256": "5a"}, ())
COMPANY = b"c" * 16
#: Answers of a cell: three chunks of a prune.
ANSWERS = 2500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".puma" / "responses.sqlite"


def started(step: str, path: Path, number: int = -1) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "tests.crash.steps", step, str(path), str(number)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def killed(step: str, path: Path, number: int) -> bool:
    """Return True if a step was killed at a place; False if it has fewer places."""
    with running(started(step, path, number)) as process:
        process.communicate()
    assert process.returncode in {0, -signal.SIGKILL}
    return process.returncode != 0


def filled(path: Path, *, runs: int = 1, answers: int = 3) -> None:
    """Fill a store with a cell for each run."""
    for run in range(runs):
        store = ResponseStore(path, run=f"run {run}")
        scope = store.scope(f"cell-{run}@", b"engine", ENGINE, {})
        assert scope is not None
        requests = [
            Generate(prompt=Prompt(messages=(Message(role="user", content=f"{run} {number}"),)), max_tokens=1)
            for number in range(answers)
        ]
        rows = [(f"{run} {each}".encode(), request, Response(text="yes")) for each, request in enumerate(requests)]
        store.keep(scope, COMPANY, requests[0].prompt, rows)
        store.finish_batch(scope, COMPANY, answers)
        store.close()


def answers(path: Path) -> dict[str, int]:
    """The number of kept answers of each cell, from a store that opens without a complaint."""
    opened = open_to_write(path)
    assert opened.note == ""
    assert opened.connection is not None
    with closing(opened.connection) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT cell, count(*) FROM response JOIN scope ON scope.id = scope GROUP BY scope"
        return dict(connection.execute(query).fetchall())


def test_a_creation_that_is_killed_is_done_again(path: Path) -> None:
    for place in count():
        if not killed("create", path, place):
            break
        assert answers(path) == {}
        filled(path)
        assert answers(path) == {"cell-0@": 3}
        for file in path.parent.iterdir():
            file.unlink()
    assert place > 6, "a place after each table"


def test_a_prune_that_is_killed_leaves_the_answers_of_the_last_runs(path: Path) -> None:
    filled(path, runs=4, answers=ANSWERS)
    before = path.read_bytes()
    for place in count():
        path.write_bytes(before)
        was_killed = killed("shrink", path, place)
        left = answers(path)
        assert {cell: left[cell] for cell in ("cell-2@", "cell-3@")} == {"cell-2@": ANSWERS, "cell-3@": ANSWERS}
        # A cell that is partly removed is never replayed as a whole.
        store = ResponseStore(path, readonly=True)
        whole = {scope.cell for scope in store.scopes() if [*store.whole_batches(scope)]}
        assert whole == {cell for cell, number in left.items() if number == ANSWERS}
        store.close()
        prune(path, 1)
        assert set(answers(path)) == {"cell-2@", "cell-3@"}
        if not was_killed:
            break
    assert place == 10, "the top tokens of two cells; three parts of each, and the search for a fourth one"


def test_a_checkpoint_that_is_killed_loses_no_row(path: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    for _ in range(part(25)):
        filled(path)
        with running(started("checkpoint", path)) as process:
            assert process.stdout is not None
            last = int(process.stdout.readline())
            deadline = time.monotonic() + chance.uniform(0, 0.3)
            while time.monotonic() < deadline:
                last = int(process.stdout.readline())
        assert answers(path) == {"cell-0@": 3}
        with closing(sqlite3.connect(path)) as connection:
            (rows,) = connection.execute("SELECT count(*) FROM prompt WHERE base IS NULL AND length(body) = 2000")
            assert rows[0] >= 200 * (last + 1)
        for file in path.parent.iterdir():
            file.unlink()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_damaged_store_that_is_half_set_aside_is_set_aside_with_its_log(path: Path, place: int) -> None:
    filled(path)
    # One file for all of the test: to close any descriptor of a store gives up the locks of its process.
    with closing(sqlite3.connect(path, isolation_level=None)) as other, path.open("r+b", buffering=0) as stream:
        # In place: the first page, which is damaged then, stays out of the log.
        other.execute("UPDATE response SET finish = 'halt'")
        log = path.with_name(f"{path.name}-wal").read_bytes()
        assert b"halt" in log
        stream.write(b"\0" * 100)
        assert killed("rename", path, place)
        opened = open_to_write(path)
        assert opened.connection is not None
        opened.connection.close()

        filled(path)
        assert answers(path) == {"cell-0@": 3}
        aside = path.with_name("responses.damaged-1.sqlite")
        assert aside.read_bytes().startswith(b"\0" * 100)
        assert aside.with_name(f"{aside.name}-wal").read_bytes() == log
        assert not path.with_name("responses.damaged-2.sqlite").exists()
