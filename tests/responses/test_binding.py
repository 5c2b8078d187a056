"""Answers belong to their cell and to their engine: neither a flipped bit nor an upgrade gives them to another one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Response
from pytest_puma.responses.contents import lines
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.row import COLUMNS, check_of
from pytest_puma.responses.schema import VERSION
from tests.responses.test_database import BASE, COMPANY, found_texts, keep, kept_in

PAGE = 4096
ENGINES = (b"a" * 32, b"b" * 32, b"c" * 32)
KEY = b"k" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "responses.sqlite"


def filled(path: Path) -> list[Scope]:
    """A store in which each engine has another answer to the same request of the same cell."""
    with closing(ResponseStore(path, run="first")) as store:
        scopes = [kept_in(store, engine=engine) for engine in ENGINES]
        for scope in scopes:
            store.keep(scope, COMPANY, BASE.prompt, [(KEY, BASE, Response(text=scope.key.decode()))])
    return scopes


def execute(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def index_bits(path: Path, index: str) -> Iterator[tuple[int, int]]:
    """The place and the mask of each bit of the entries of an index that has one page."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (index,)).fetchone()
    start = (page - 1) * PAGE
    content = path.read_bytes()[start : start + PAGE]
    used = [place for place, byte in enumerate(content) if byte]
    return ((start + place, 1 << bit) for place in used for bit in range(8))


@pytest.mark.parametrize("index", ["sqlite_autoindex_engine_1", "sqlite_autoindex_scope_1"])
def test_no_flipped_bit_of_an_index_gives_the_answers_of_another_engine(path: Path, index: str) -> None:
    scopes = filled(path)
    content = path.read_bytes()
    lost = 0
    for place, mask in index_bits(path, index):
        damaged = bytearray(content)
        damaged[place] ^= mask
        path.write_bytes(damaged)
        with closing(ResponseStore(path, readonly=True)) as reader:
            for scope in scopes:
                kept = reader.find(scope, [KEY], COMPANY)
                assert {each.response.text for each in kept.values()} <= {scope.key.decode()}
                lost += not kept
    assert lost


@pytest.mark.parametrize(
    ("statement", "change"),
    [
        ("UPDATE engine SET digest = ? WHERE id = 2", {"key": b"d" * 32}),
        ("UPDATE scope SET cell = ? WHERE id = 2", {"cell": "triage-zero_shot@"}),
    ],
)
def test_answers_under_another_cell_or_engine_are_missing(path: Path, statement: str, change: dict[str, Any]) -> None:
    first, second, _ = filled(path)
    execute(path, statement, *change.values())
    with closing(ResponseStore(path, readonly=True)) as reader:
        for scope, texts in ((first, ["a" * 32]), (second, []), (replace(second, **change), [])):
            assert [each.response.text for each in reader.find(scope, [KEY], COMPANY).values()] == texts
        assert len([*lines(reader)]) == 2


# -- stores of the first version ---------------------------------------------------------------------


def older(path: Path, *, journal: str = "WAL") -> Scope:
    """A store as the first version left it, with one row of three that is damaged."""
    with closing(ResponseStore(path, run="first")) as store:
        scope = kept_in(store)
        keep(store, scope, "pqr")
        store.finish_pass(scope, COMPANY, 3)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        names = ", ".join(("request", "company", *COLUMNS))
        for number, *row in connection.execute(f"SELECT id, {names} FROM response").fetchall():  # noqa: S608
            connection.execute("UPDATE response SET row_check = ? WHERE id = ?", (check_of(*row), number))
        connection.execute("UPDATE response SET text = 'x' WHERE text = ?", (b"q",))
        connection.execute("PRAGMA user_version=1")
        connection.execute(f"PRAGMA journal_mode={journal}")
    return scope


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_the_answers_of_an_older_store_are_found_after_its_upgrade(path: Path) -> None:
    scope = older(path)
    with closing(ResponseStore(path, run="second")) as store:
        assert sorted(found_texts(store, scope, "pqr")) == ["p", "r"]
        assert store.take_notes() == (f"1 of the answers in {path} are damaged, and count as missing",)
        keep(store, scope, "q")
    assert version(path) == VERSION
    with closing(ResponseStore(path, run="third")) as store:
        assert sorted(found_texts(store, scope, "pqr")) == ["p", "q", "r"]
        assert store.passes(scope) == [COMPANY]


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_reader_finds_the_answers_of_an_older_store_and_changes_nothing(path: Path, journal: str) -> None:
    scope = older(path, journal=journal)
    before = path.read_bytes()
    with closing(ResponseStore(path, readonly=True)) as reader:
        assert sorted(found_texts(reader, scope, "pqr")) == ["p", "r"]
        assert len([*lines(reader)]) == 2
    assert ([*path.parent.iterdir()], path.read_bytes()) == ([path], before)
