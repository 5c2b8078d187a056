"""The answers that a damaged store gives back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from pytest_puma.core import DataError, Response
from pytest_puma.responses.contents import lines
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.recover import recover
from tests.disk import limited
from tests.responses.test_damage import damage, root
from tests.responses.test_upkeep import cells, filled, request


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "responses.sqlite"


def test_a_damaged_file_gives_back_what_its_checksums_confirm(path: Path) -> None:
    filled(path, "one", "a", "b", answers=300, size=200)
    content, draw = bytearray(path.read_bytes()), Random(7)  # noqa: S311 - reproducible
    for _ in range(20):
        place = draw.randrange(8 * 4096, len(content) - 64)
        content[place : place + 64] = draw.randbytes(64)
    damaged = path.with_name("responses.damaged-1.sqlite")
    damaged.write_bytes(content)
    path.unlink()
    # A store that has begun anew has other ids for the same cells.
    filled(path, "two", "c", "b", answers=300, size=200)
    copied, lost = recover(damaged, path)
    assert copied > 550
    assert abs(600 - copied - lost) < 5
    reader = ResponseStore(path, readonly=True)
    assert cells(path) == ["a", "b", "c"]
    query = "SELECT cell, count(*) FROM response JOIN scope ON scope.id = scope GROUP BY cell"
    counts = dict(reader.rows(query))
    assert counts["b"] == counts["c"] == 300, "answers of the same request are not doubled"
    for scope in reader.scopes():
        draw = Random(scope.cell)  # noqa: S311 - reproducible
        expected = {draw.randbytes(32): draw.randbytes(200).hex() for _ in range(300)}
        kept = reader.find(scope, [*expected], b"company")
        assert {key: each.response.text for key, each in kept.items()}.items() <= expected.items()
        assert len(kept) == counts[scope.cell]
    assert reader.take_notes() == ()
    assert reader.rows("SELECT name FROM run ORDER BY name") == [("one",), ("two",)]


@pytest.mark.parametrize("content", [b"", b"x" * 5000])
def test_a_file_without_anything_readable_is_an_error(path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match="found no file"):
        recover(path.with_name("none.sqlite"), path)
    damaged = path.with_name("damaged.sqlite")
    damaged.write_bytes(content)
    with pytest.raises(DataError, match="nothing can be read"):
        recover(damaged, path)
    assert not path.exists()


def saved(damaged: Path, path: Path) -> set[str]:
    """The texts in a new store after a recovery."""
    path.unlink(missing_ok=True)
    recover(damaged, path)
    with closing(ResponseStore(path, readonly=True)) as reader:
        return {text.decode() for (text,) in reader.rows("SELECT text FROM response")}


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A store of two cells, each with 400 answers on many pages, and its passes; not damaged yet."""
    damaged = tmp_path / "responses.damaged-1.sqlite"
    filled(damaged, "one", "a", "b", answers=400, size=100)
    return damaged


def test_a_sound_file_gives_back_everything(damaged: Path, path: Path) -> None:
    before = damaged.read_bytes()
    assert recover(damaged, path) == (800, 0)
    with closing(ResponseStore(path, readonly=True)) as reader, closing(ResponseStore(damaged, readonly=True)) as old:
        assert [*lines(reader)] == [*lines(old)]
        assert cells(path) == ["a", "b"]
        for scope in reader.scopes():
            assert reader.whole_pass(scope, b"company") == old.whole_pass(scope, b"company")
        assert reader.rows("SELECT * FROM prompt") == old.rows("SELECT * FROM prompt")
        assert reader.rows("SELECT name, started FROM run") == old.rows("SELECT name, started FROM run")
        assert reader.rows("PRAGMA integrity_check") == [("ok",)]
    assert damaged.read_bytes() == before


@pytest.mark.parametrize("size", [16, 100, 4096])
def test_a_file_without_its_header_gives_back_everything(damaged: Path, path: Path, size: int) -> None:
    content = damaged.read_bytes()
    damaged.write_bytes(bytes(size) + content[size:])
    assert recover(damaged, path) == (800, 0)


@pytest.mark.parametrize("table", ["response", "prompt", "pass", "sqlite_autoindex_response_1"])
def test_a_file_without_the_root_of_a_table_gives_back_all_answers(damaged: Path, path: Path, table: str) -> None:
    damage(damaged, root(damaged, table))
    assert recover(damaged, path) == (800, 0)


def test_answers_on_a_broken_page_are_counted(damaged: Path, path: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        query = "SELECT pageno, ncell FROM dbstat WHERE name = 'response' AND pagetype = 'leaf' ORDER BY pageno"
        try:
            (page, answers), *_ = connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("needs a SQLite that tells the pages of a table")
    damage(damaged, page)
    assert recover(damaged, path) == (800 - answers, answers)


@pytest.mark.parametrize("table", ["scope", "engine"])
def test_answers_whose_cell_is_unknown_are_counted_and_not_saved(damaged: Path, path: Path, table: str) -> None:
    damage(damaged, root(damaged, table))
    assert recover(damaged, path) == (0, 800)


def test_answers_whose_run_is_unknown_are_saved(damaged: Path, path: Path) -> None:
    damage(damaged, root(damaged, "run"))
    assert recover(damaged, path) == (800, 0)
    with closing(ResponseStore(path, readonly=True)) as reader:
        (scope, _) = reader.scopes()
        kept = reader.whole_pass(scope, b"company")
    assert kept is not None
    assert {each.run for each in kept.values()} == {(0, "unknown")}


def test_half_a_file_gives_back_what_is_there(damaged: Path, path: Path) -> None:
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2 + 1000])
    copied, lost = recover(damaged, path)
    assert 250 < copied < 550
    assert copied + lost <= 800


def test_answers_in_the_log_of_a_killed_process_are_saved_whatever_happened_to_the_file(
    damaged: Path, path: Path
) -> None:
    with closing(ResponseStore(damaged, run="two")) as writer:
        (scope, _) = writer.scopes()
        texts = [f"answer {number}" for number in range(300)]
        rows = [(f"{text:>032}".encode(), request(text), Response(text=text)) for text in texts]
        writer.keep(scope, b"another", request("first").prompt, rows)
        copy = damaged.with_name("copy.sqlite")
        copy.write_bytes(damaged.read_bytes())
        copy.with_name("copy.sqlite-wal").write_bytes(damaged.with_name(f"{damaged.name}-wal").read_bytes())
    damage(copy, 1)
    assert recover(copy, path) == (1100, 0)
    with closing(ResponseStore(path, readonly=True)) as reader:
        query = "SELECT text FROM response WHERE company = ?"
        assert {text.decode() for (text,) in reader.rows(query, (b"another",))} == {*texts}


@pytest.mark.parametrize("size", [1, 8, 64, 4096])
def test_any_damage_gives_back_answers_that_were_kept_and_no_others(damaged: Path, path: Path, size: int) -> None:
    content, draw = damaged.read_bytes(), Random(size)  # noqa: S311 - reproducible
    kept = saved(damaged, path)
    assert len(kept) == 800
    for _ in range(5):
        broken = bytearray(content)
        for _ in range(1 + 64 // size):
            place = draw.randrange(len(broken))
            broken[place : place + size] = draw.randbytes(size)
        damaged.write_bytes(broken)
        recovered = saved(damaged, path)
        assert recovered <= kept
        # Less than that is there only if the page of all cells was hit.
        assert len(recovered) > 500 or not recovered


def test_a_store_is_not_recovered_into_itself(damaged: Path) -> None:
    before = damaged.read_bytes()
    with pytest.raises(DataError, match="is the store itself; expected another one: rename it first"):
        recover(damaged, damaged.parent / "." / damaged.name)
    assert damaged.read_bytes() == before


def test_a_store_without_room_is_an_error_and_stays_as_it_was(damaged: Path, path: Path) -> None:
    filled(path, "two", "c", answers=1)
    with limited(100_000), pytest.raises(DataError, match=r"responses\.sqlite cannot be written: (database or )?disk"):
        recover(damaged, path)
    assert cells(path) == ["c"]
