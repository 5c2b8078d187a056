"""A store that is damaged behind its first page, which SQLite notices only when it reads there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from pytest_puma.core import Response
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.upkeep import cells, lines
from tests.responses.test_database import BASE, COMPANY, found_texts, keep, kept_in, request

PAGE = 4096
#: Of the first answer.
KEY = b"%032d" % 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "responses.sqlite"


def filled(path: Path, answers: int = 300) -> Scope:
    """A store with several pages of each kind."""
    with closing(ResponseStore(path, run="first")) as store:
        scope = kept_in(store)
        rows = [
            (b"%032d" % number, request(f"the same beginning, then {number}"), Response(text=str(number) * 9))
            for number in range(answers)
        ]
        store.keep(scope, COMPANY, BASE.prompt, rows)
        store.finish_batch(scope, COMPANY, answers)
    return scope


def root(path: Path, table: str) -> int:
    """The number of a table's first page."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (number,) = connection.execute(query, (table,)).fetchone()
    return int(number)


def damage(path: Path, page: int, size: int = 1) -> None:
    with path.open("r+b") as stream:
        stream.seek((page - 1) * PAGE)
        stream.write(b"\xff" * size * PAGE)


def aside_note(path: Path, number: int = 1) -> str:
    aside = path.with_name(f"responses.damaged-{number}.sqlite")
    return (
        f"{path} was damaged (database disk image is malformed) and is now {aside.name}; "
        f"`sqlite3 {aside} .recover` prints what can still be read"
    )


def test_damage_that_a_reader_finds_begins_a_new_store(path: Path) -> None:
    scope = filled(path)
    damage(path, root(path, "response"))
    store = ResponseStore(path, run="second")
    assert store.find(kept_in(store), [KEY], COMPANY) == {}
    assert store.take_notes() == (aside_note(path),)
    assert store.keeps
    keep(store, scope, "pq")
    assert sorted(found_texts(store, scope, "pq")) == ["p", "q"]
    store.close()
    with closing(ResponseStore(path, readonly=True)) as reader:
        assert reader.scopes() == [scope]
        assert reader.rows("SELECT name FROM run") == [("second",)]
    assert store.take_notes() == ()


@pytest.mark.parametrize("table", ["response", "prompt", "scope", "run", "sqlite_autoindex_response_1"])
def test_damage_that_a_writer_finds_loses_nothing_that_it_writes(path: Path, table: str) -> None:
    filled(path)
    damage(path, root(path, table))
    store = ResponseStore(path, run="second")
    scope = kept_in(store)
    keep(store, scope, "pq")
    assert store.take_notes() == (aside_note(path),)
    assert sorted(found_texts(store, scope, "pq")) == ["p", "q"]
    store.finish_batch(scope, COMPANY, 2)
    assert len([*store.whole_batches(scope)]) == 1


def test_another_process_that_wrote_the_damaged_file_goes_on_in_the_new_one(path: Path) -> None:
    """It finds the damage later, sets nothing aside, and its end does not touch the log of the new store."""
    scope = filled(path)
    damage(path, root(path, "prompt"))
    one, other = (ResponseStore(path, run=name) for name in ("one", "other"))
    # Other cells first, so that the same cell has another id in the new file.
    for store, cell in ((one, "one-x@"), (other, "other-x@")):
        kept_in(store, cell=cell)
    keep(one, scope, "p")
    assert one.take_notes() == (aside_note(path),)
    keep(other, scope, "q")
    assert other.take_notes() == ()
    one.close()
    late = ResponseStore(path, run="late")
    keep(late, scope, "r")
    other.close()
    assert sorted(found_texts(late, scope, "pqr")) == ["p", "q", "r"]
    assert [each.name for each in path.parent.glob("*damaged*.sqlite")] == ["responses.damaged-1.sqlite"]
    assert late.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_disk_that_damages_the_next_file_too_ends_the_keeping(path: Path) -> None:
    scope = filled(path)
    damage(path, root(path, "prompt"))
    store = ResponseStore(path, run="second")
    keep(store, scope, "p")
    assert store.take_notes() == (aside_note(path),)
    store.close()
    damage(path, root(path, "prompt"))
    keep(store, scope, "q")
    assert store.take_notes() == (f"from now on, no answers are kept in {path}: database disk image is malformed",)
    assert not store.keeps
    assert not path.with_name("responses.damaged-2.sqlite").exists()


def test_a_reader_changes_nothing_and_tells_it(path: Path) -> None:
    scope = filled(path)
    damage(path, root(path, "response"))
    before = path.read_bytes()
    with closing(ResponseStore(path, readonly=True)) as reader:
        assert reader.find(scope, [KEY], COMPANY) == {}
        assert reader.take_notes() == (f"{path} cannot be read: database disk image is malformed",)
    assert ([*path.parent.iterdir()], path.read_bytes()) == ([path], before)


@pytest.mark.parametrize("size", [1, 8, 64, 4096])
def test_any_damage_raises_nothing_and_leaves_a_store_that_keeps(path: Path, size: int) -> None:
    scope = filled(path)
    content, draw = path.read_bytes(), Random(size)  # noqa: S311 - reproducible
    (path.parent / "again").mkdir()
    for number in range(40):
        damaged = bytearray(content)
        for _ in range(1 + 64 // size):
            place = draw.randrange(PAGE, len(damaged))
            damaged[place : place + size] = draw.randbytes(size)
        again = path.parent / "again" / f"{number}.sqlite"
        again.write_bytes(damaged)
        with closing(ResponseStore(again, readonly=True)) as reader:
            assert reader.find(scope, [KEY], COMPANY).keys() <= {KEY}
            assert [len(batch) for batch in reader.whole_batches(scope)] in ([], [300])
            assert len([*lines(reader)]) <= 300
            assert len(cells(reader)) <= 1
        with closing(ResponseStore(again, run="second")) as store:
            mine = kept_in(store)
            assert len(store.find(mine, [b"%032d" % each for each in range(300)], COMPANY)) <= 300
            keep(store, mine, "pqr")
            assert sorted(found_texts(store, mine, "pqr")) == ["p", "q", "r"], number
