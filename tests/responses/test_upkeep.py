"""The size of the store and the end of a run, and what a damaged file still has."""

from __future__ import annotations

from array import array
from pathlib import Path
from random import Random

import pytest

from pytest_puma.core import DataError, Generate, Message, Prompt, Response, TopTokens
from pytest_puma.responses.database import EngineRow, ResponseStore
from pytest_puma.responses.opening import Opened, open_to_write
from pytest_puma.responses.upkeep import finish_run, prune

ENGINE = EngineRow("5a", "m", {"weights_sha256": "5a"}, ())
MEGABYTE = 2**20


def filled(path: Path, run: str, *cells: str, answers: int = 40, size: int = 4000) -> None:
    """Keep long answers, which no compression makes shorter, in these cells."""
    store = ResponseStore(path, run=run)
    for cell in cells:
        scope = store.scope(cell, b"engine", ENGINE, {})
        assert scope is not None
        draw = Random(cell)  # noqa: S311 - reproducible
        rows = [(draw.randbytes(32), request(cell), Response(text=draw.randbytes(size).hex())) for _ in range(answers)]
        store.keep(scope, b"company", request(cell).prompt, rows)
        store.finish_batch(scope, b"company", answers)
    store.close()


def request(text: str) -> Generate:
    return Generate(prompt=Prompt(messages=(Message(role="user", content=text),)), max_tokens=1)


def cells(path: Path) -> list[str]:
    store = ResponseStore(path, readonly=True)
    names = sorted(scope.cell for scope in store.scopes())
    store.close()
    return names


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "responses.sqlite"


def test_the_cells_that_were_used_longest_ago_are_removed_first(path: Path) -> None:
    for number, cell in enumerate("abcd"):
        filled(path, f"r{number}", cell)
    filled(path, "again", "a")
    size = path.stat().st_size
    pruned = prune(path, size - 1)
    assert (pruned.answers, pruned.cells, cells(path)) == (40, 1, ["a", "c", "d"])
    assert pruned.size == path.stat().st_size < size
    reader = ResponseStore(path, readonly=True)
    assert reader.rows("SELECT count(*) FROM response") == [(120,)]
    assert reader.rows("SELECT count(*) FROM pass") == [(3,)]
    assert reader.rows("SELECT count(*) FROM prompt") == [(3,)]


def test_those_of_the_last_two_runs_stay_whatever_their_size(path: Path) -> None:
    for number, cell in enumerate("abc"):
        filled(path, f"r{number}", cell)
    assert (prune(path, 1).cells, cells(path)) == (1, ["b", "c"])
    assert prune(path, 1).answers == 0


def test_many_answers_are_removed_in_short_transactions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, "one", "a", answers=2500, size=1)
    filled(path, "two", "b", answers=1)
    filled(path, "three", "c", answers=1)
    statements: list[str] = []

    def open_traced(path: Path) -> Opened:
        opened = open_to_write(path)
        assert opened.connection is not None
        opened.connection.set_trace_callback(statements.append)
        return opened

    monkeypatch.setattr("pytest_puma.responses.upkeep.open_to_write", open_traced)
    assert prune(path, 1).answers == 2500
    # One of them looks for top tokens.
    assert sum(statement.startswith("DELETE FROM response") for statement in statements) == 1 + 4
    assert not any(statement.startswith("BEGIN") for statement in statements)


def test_a_run_ends_with_a_single_file_of_at_most_the_size(path: Path) -> None:
    assert finish_run(path, 1) is None
    assert not path.exists()
    for number, cell in enumerate("abcd"):
        filled(path, f"r{number}", cell, answers=60)
    writer = ResponseStore(path, run="r3")
    assert writer.scope("d", b"engine", ENGINE, {}) is not None
    pruned = finish_run(path, 1)
    assert pruned is not None
    assert (pruned.answers, cells(path)) == (60, ["b", "c", "d"])
    assert pruned.size == path.stat().st_size < MEGABYTE
    assert path.with_name(f"{path.name}-wal").stat().st_size == 0
    assert finish_run(path, 1) is None
    writer.close()
    assert [*path.parent.iterdir()] == [path]


def test_pruning_what_is_no_store_is_an_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(DataError, match=r"responses\.sqlite cannot be opened"):
        prune(path, MEGABYTE)


def test_top_tokens_are_removed_before_answers(path: Path) -> None:
    for number, cell in enumerate("abcd"):
        filled(path, f"r{number}", cell, answers=2)
    store = ResponseStore(path, run="r1")
    scope = store.scope("b", b"engine", ENGINE, {})
    assert scope is not None
    top = TopTokens(array("i", range(256)), array("f", [-6.0] * 256))
    rows = [(bytes([number]) * 32, request("b"), Response(top=(top,) * 16)) for number in range(40)]
    store.keep(scope, b"company", request("b").prompt, rows)
    store.close()
    pruned = prune(path, path.stat().st_size - 40 * 16 * 256 * 6)
    assert (pruned.answers, pruned.cells, cells(path)) == (40, 0, ["a", "b", "c", "d"])
