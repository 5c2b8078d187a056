"""The index of a project's runs: the same whether it grew or was made again, and no reason for a failure."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Invocation
from pytest_puma.platform.locks import locked
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.index import History
from tests.factories import fault, measure, outcome, revised, unmeasured, verdict
from tests.runs.runs import MAIN, keep

NAMES = ("20261101T100000-1", "20261102T100000-1", "20261103T100000-1")
CELL = "triage-zero_shot@m"


def cells(value: float = 0.5) -> list[Any]:
    """A cell that missed a gate, and one that kept its own."""
    missed = verdict("accuracy >= 0.9", "FAIL")
    measures = {"accuracy": measure(value=value), "ece": unmeasured("ece")}
    return [
        outcome(CELL, node_id="a", verdicts=(missed,), measures=measures, signature={"seed": 1}),
        outcome("triage-egi@m", node_id="b", verdicts=(verdict(),)),
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with three runs, indexed one by one, as each of them ended."""
    for number, name in enumerate(NAMES, start=1):
        keep(tmp_path, name, cells(number / 10), number=number, seconds=float(number))
        content(tmp_path)
    return tmp_path


def file(root: Path) -> Path:
    return root / ".puma" / "history.sqlite"


def content(root: Path) -> str:
    """All contents of the index."""
    with closing(History(root)) as history:
        trends = [history.trend(cell, metric, last=9) for cell in history.cells() for metric in history.metrics(cell)]
        return repr((history.runs(), history.unfinished(), trends))


def numbers(root: Path) -> dict[str, int | None]:
    with closing(History(root)) as history:
        return {row.name: row.number for row in history.runs()}


def test_the_newest_run_is_listed_first_with_what_it_counted(root: Path) -> None:
    keep(root, "20261104T100000-1", cells(), number=4, faults=(fault("triage-x@m"),), seconds=1.5)
    with closing(History(root)) as history:
        newest, *others = history.runs()
    assert (newest.number, newest.cells, newest.failed, newest.answers, newest.seconds) == (4, 2, 2, 100, 1.5)
    assert newest.invocation == replace(MAIN, command="pytest")
    assert [row.name for row in others] == list(reversed(NAMES))


def test_a_trend_has_the_newest_values_the_oldest_first(root: Path) -> None:
    with closing(History(root)) as history:
        assert history.cells() == ["triage-egi@m", CELL]
        assert history.metrics(CELL) == ["accuracy", "ece"]
        assert history.metrics("no such cell") == []
        rows = history.trend(CELL, "accuracy", last=2)
        assert history.trend(CELL, "no such metric", last=2) == []
        (nothing,) = history.trend(CELL, "ece", last=1)
    assert [(row.run.number, row.measure.value) for row in rows] == [(2, 0.2), (3, 0.3)]
    assert rows[0].signature == {"seed": 1}
    assert math.isnan(nothing.measure.value)


def lose(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scribble(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


def replace_it(path: Path) -> None:
    path.write_bytes(b"This is no database." * 300)


def age_it(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE cell")
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("damage", [lose, truncate, scribble, replace_it, age_it])
def test_an_index_that_is_made_again_equals_the_one_that_grew(root: Path, damage: Callable[[Path], None]) -> None:
    grown = content(root)
    damage(file(root))
    assert content(root) == grown
    assert file(root).stat().st_size > 5000


def test_an_index_with_damage_anywhere_is_made_again(root: Path) -> None:
    grown, whole = content(root), file(root).read_bytes()
    page = 4096
    for start in range(0, len(whole), page):
        file(root).write_bytes(whole[:start] + b"\xff" * page + whole[start + page :])
        assert content(root) == grown


def test_processes_that_use_the_index_at_once_find_the_same(root: Path) -> None:
    grown = content(root)
    lose(file(root))
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: content(root), range(24))) == {grown}


def test_runs_that_are_gone_leave_the_index(root: Path) -> None:
    (runs_of(root) / NAMES[1] / "run.json").unlink()
    (runs_of(root) / NAMES[1] / "predictions.jsonl").unlink()
    assert list(numbers(root).values()) == [3, 1]
    assert "cut off" in content(root)
    with closing(History(root)) as history:
        assert [row.run.number for row in history.trend(CELL, "accuracy", last=9)] == [1, 3]


def test_a_record_that_is_written_again_is_read_again(root: Path) -> None:
    path = runs_of(root) / NAMES[2] / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["outcomes"][0]["measures"]["accuracy"]["value"] = 0.75
    path.write_text(json.dumps(record), encoding="utf-8")
    with closing(History(root)) as history:
        assert history.trend(CELL, "accuracy", last=1)[0].measure.value == 0.75
        assert history.runs()[0].number == 3


def test_a_record_replaced_by_one_of_equal_size_and_time_is_read_again(root: Path) -> None:
    path = runs_of(root) / NAMES[2] / "run.json"
    before, other = path.stat(), path.with_name("other.json")
    other.write_text(path.read_text(encoding="utf-8").replace('"value": 0.3', '"value": 0.7'), encoding="utf-8")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert other.stat().st_size == before.st_size
    other.replace(path)
    with closing(History(root)) as history:
        assert history.trend(CELL, "accuracy", last=1)[0].measure.value == 0.7


def test_runs_without_numbers_get_them_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in NAMES:
        keep(tmp_path, name, cells())
    assert numbers(tmp_path) == {NAMES[2]: 3, NAMES[1]: 2, NAMES[0]: 1}
    keep(tmp_path, "20261104T100000-1", cells(), number=4)
    assert numbers(tmp_path)["20261104T100000-1"] == 4
    lose(file(tmp_path))
    assert list(numbers(tmp_path).values()) == [4, 3, 2, 1]


def test_the_order_is_that_of_the_numbers_if_the_clock_was_set_back(root: Path) -> None:
    keep(root, "20260101T100000-1", cells(), number=4, at=0.0)
    grown = content(root)
    assert next(iter(numbers(root).items())) == ("20260101T100000-1", 4)
    lose(file(root))
    assert content(root) == grown


def test_two_runs_with_one_number_get_two(root: Path) -> None:
    keep(root, "20261104T100000-1", cells(), number=3)
    assert sorted(filter(None, numbers(root).values())) == [1, 2, 3, 4]


def test_a_killed_run_and_a_damaged_one_are_distinguished_from_one_that_still_runs(root: Path) -> None:
    folder = runs_of(root)
    for name in ("killed", "running", "damaged"):
        (folder / name).mkdir()
    (folder / "damaged" / "run.json").write_text('{"format": 2', encoding="utf-8")
    with locked(folder / "running"), closing(History(root)) as history:
        states = {row.name: row.state for row in history.unfinished()}
        assert len(history.runs()) == 3
    assert states == {"killed": "cut off", "running": "running", "damaged": "damaged"}


def test_in_a_folder_that_cannot_be_written_the_index_is_made_in_memory(root: Path) -> None:
    grown = content(root)
    lose(file(root))
    file(root).mkdir()
    assert content(root) == grown
    with pytest.raises(OSError, match=r"history\.sqlite"):
        History(root, in_memory=False)


def test_of_several_tests_with_one_cell_the_last_one_counts(tmp_path: Path) -> None:
    first, second = cells(0.1)[0], cells(0.2)[0]
    keep(tmp_path, NAMES[0], [first, revised(second, node_id="c")])
    with closing(History(tmp_path)) as history:
        assert [row.measure.value for row in history.trend(CELL, "accuracy", last=9)] == [0.2]
        assert history.runs()[0].cells == 2


def test_the_index_is_for_its_owner_alone(root: Path) -> None:
    assert file(root).stat().st_mode & 0o777 == 0o600


def test_a_run_that_knows_no_commit_is_listed(tmp_path: Path) -> None:
    keep(tmp_path, NAMES[0], cells(), invocation=Invocation())
    with closing(History(tmp_path)) as history:
        assert history.runs()[0].invocation == Invocation()
