"""Answers belong to their cell and to their engine: a flipped bit does not give them to another one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Response
from pytest_puma.responses.database import ResponseStore, Scope
from pytest_puma.responses.upkeep import lines
from tests.responses.test_database import BASE, COMPANY, kept_in

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
