"""Several processes at one store, and several runs of one project at once."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pytest_puma.responses.database import ResponseStore
from tests.crash.amount import part
from tests.crash.project import PATIENCE, CrashProject, kill, running
from tests.crash.test_kill import ALONE, CELLS, PACE, WORKERS, check, opened
from tests.crash.test_upkeep import started

#: Processes that open a store at the same moment.
CROWD = 6
#: Maximum milliseconds of a step.
MODERATE = 10


def crowd(path: Path) -> list[str]:
    """Messages of a crowd about a store that all of them open at once, and write to."""
    with ExitStack() as stack:
        members = [stack.enter_context(running(started("join", path))) for _ in range(CROWD)]
        for each in members:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        moment = time.time() + 0.05
        for each in members:
            assert each.stdin is not None
            each.stdin.write(f"{moment}\n")
            each.stdin.flush()
        return [message for each in members if each.stdout and (message := each.stdout.readline().strip())]


def answers(path: Path) -> int:
    with closing(ResponseStore(path, readonly=True)) as store:
        return int(store.rows("SELECT count(*) FROM response")[0][0])


def test_processes_that_create_a_store_at_once_all_keep_their_answers(tmp_path: Path) -> None:
    for number in range(part(50)):
        path = tmp_path / f"{number}" / "responses.sqlite"
        assert crowd(path) == []
        assert answers(path) == CROWD


def test_processes_that_find_a_damaged_store_at_once_set_it_aside_once(tmp_path: Path) -> None:
    for number in range(part(10)):
        path = tmp_path / f"{number}" / ".puma" / "responses.sqlite"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 9000)
        (message,) = crowd(path)
        assert "was damaged" in message
        assert answers(path) == CROWD
        assert [file.name for file in path.parent.glob("*damaged*")] == ["responses.damaged-1.sqlite"]


def test_two_runs_at_once_keep_every_answer_once(project: CrashProject) -> None:
    project.write("test_cells.py", CELLS)
    for number in range(part(10)):
        if number:
            project.store.unlink()
        with running(project.start(*ALONE)) as one, running(project.start(*ALONE)) as other:
            outputs = [each.communicate(timeout=PATIENCE)[0] for each in (one, other)]
        assert (one.returncode, other.returncode) == (0, 0), outputs
        assert "locked" not in "".join(outputs)
        rows = Counter((row.cell, row.request, row.company) for row in project.rows())
        assert set(rows.values()) == {1}
        assert {(f"{cell}one", request) for cell, request, _ in rows} == set(project.computed())


def test_six_workers_keep_every_answer_once(project: CrashProject) -> None:
    """Cells of one model on all of them, so that they write to the same tables at once."""
    pytest.importorskip("xdist")
    project.write("test_cells.py", CELLS)
    result = project.run("-n6", "--dist=load", "--puma-model=one.gguf", pace=MODERATE)
    assert result.code == 0, result.output
    assert "locked" not in result.output
    assert "no answers are kept" not in result.output
    rows = Counter((row.cell, row.request, row.company) for row in project.rows())
    assert set(rows.values()) == {1}
    assert {(f"{cell}one", request) for cell, request, _ in rows} == set(project.computed())
    assert set(project.computed().values()) == {1}
    assert project.is_sound()


@pytest.mark.parametrize("others", [("-n3",), ("-p", "no:xdist")], ids=["three_workers", "alone"])
def test_a_killed_run_with_two_workers_is_resumed_by_any_number(project: CrashProject, others: tuple[str, ...]) -> None:
    pytest.importorskip("xdist")
    project.write("test_cells.py", CELLS)
    with running(project.start(*WORKERS, pace=PACE)) as process:
        opened(project, process, 0)
        while len(project.notes("computed")) < 20:
            assert process.poll() is None
        kill(process)
    kept = len(project.rows())
    result = project.run(*others, *WORKERS[1:])
    assert result.code == 0, result.output
    assert "locked" not in result.output
    pids = {int(pid) for pid, *_ in project.notes("computed")}
    check(project, pids)
    assert kept >= 10
    assert sum(each["kept"]["kept"] for each in project.records()[-1]["outcomes"] if each["kept"]) == kept
