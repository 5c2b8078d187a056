"""Several stores in one: what is found there afterwards, and what is counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.core import DataError, Generate, Message, Prompt, Response, Usage
from pytest_puma.responses import upkeep
from pytest_puma.responses.database import EngineRow, ResponseStore
from pytest_puma.responses.merging import Merged, merge

ENGINE = EngineRow("5a" * 32, "m", {"weights_sha256": "5a" * 32}, ())


def keep(path: Path, cell: str, texts: Sequence[str], *, run: str = "one", batch: bytes = b"b") -> None:
    """Keep the answers to numbered requests of a cell as one whole batch."""
    with closing(ResponseStore(path, run=run, started=run)) as store:
        scope = store.scope(cell, b"e", ENGINE, {"seed": 1})
        assert scope is not None
        answered = []
        for number, text in enumerate(texts):
            prompt = Prompt(messages=(Message(role="user", content=f"question {number}"),))
            request = Generate(prompt=prompt, max_tokens=1)
            answered.append((b"%032d" % number, request, Response(text=text, usage=Usage(seconds=len(run)))))
        store.keep(scope, batch, answered[0][1].prompt, answered)
        store.finish_batch(scope, batch, len(answered))


def found(path: Path, cell: str) -> dict[bytes, str]:
    with closing(ResponseStore(path, readonly=True)) as store:
        (scope,) = [scope for scope in store.scopes() if scope.cell == cell]
        (batch,) = store.whole_batches(scope)
        return {key: kept.response.text for key, kept in batch.items()}


@pytest.fixture
def shards(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The store to write, and two others with a cell each."""
    one, two = tmp_path / "1.sqlite", tmp_path / "2.sqlite"
    keep(one, "a", ["x", "y"])
    keep(two, "b", ["z"], run="second")
    return tmp_path / "new" / "responses.sqlite", one, two


def test_a_new_store_has_the_answers_batches_prompts_and_runs_of_all(shards: tuple[Path, Path, Path]) -> None:
    whole, one, two = shards
    assert merge(whole, one) == Merged(added=2)
    assert merge(whole, two) == Merged(added=1)
    assert list(found(whole, "a").values()) == ["x", "y"]
    assert list(found(whole, "b").values()) == ["z"]
    with closing(ResponseStore(whole, readonly=True)) as store:
        assert [(kept.run, kept.answers) for kept in upkeep.cells(store)] == [("second", 1), ("one", 2)]
        merged = list(upkeep.lines(store))
    lines = []
    for path in (one, two):
        with closing(ResponseStore(path, readonly=True)) as store:
            lines += list(upkeep.lines(store))
    assert merged == lines


def test_merged_cells_count_as_used_last(shards: tuple[Path, Path, Path]) -> None:
    whole, one, _ = shards
    keep(whole, "old", ["o"], run="before")
    merge(whole, one)
    with closing(ResponseStore(whole, readonly=True)) as store:
        assert [scope.cell for scope in store.scopes()] == ["a", "old"]


def test_an_answer_that_is_there_stays_and_another_content_is_counted(shards: tuple[Path, Path, Path]) -> None:
    whole, one, _ = shards
    keep(whole, "a", ["x", "other"], run="another time")
    assert merge(whole, one) == Merged(known=2, differing=1)
    assert list(found(whole, "a").values()) == ["x", "other"]
    assert merge(whole, one) == Merged(known=2, differing=1)


def test_a_damaged_answer_is_left_out(shards: tuple[Path, Path, Path]) -> None:
    whole, one, _ = shards
    with closing(sqlite3.connect(one)) as connection, connection:
        connection.execute("UPDATE response SET text = 'w' WHERE text = CAST('x' AS BLOB)")
    assert merge(whole, one) == Merged(added=1, damaged=1)


def test_what_is_no_store_is_an_error_and_nothing_is_added(shards: tuple[Path, Path, Path]) -> None:
    whole, one, _ = shards
    text = one.with_name("notes.txt")
    text.write_text("not a database, and longer than a header of SQLite " * 4, encoding="utf-8")
    with pytest.raises(DataError, match=r"notes\.txt"):
        merge(whole, text)
    with pytest.raises(DataError, match=r"notes\.txt is no response store"):
        merge(text, one)
