from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_puma.session.progress.meter import INPUT, Display, WorkerFile
from pytest_puma.session.progress.workers import WorkerProgress

HALF_DONE = "a-b@c 1 of 2 samples"


class Shown(Display):
    """Collects the lines."""

    pace = patience = 0.0

    def __init__(self) -> None:
        self.lines: list[str] = []

    def show(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def progress(pytestconfig: pytest.Config, shown: Shown) -> Any:
    progress = WorkerProgress(pytestconfig, shown)
    yield progress
    progress.pytest_unconfigure()


def worker(progress: WorkerProgress, name: str, line: str = HALF_DONE) -> Any:
    """A worker that has written the progress of a cell."""
    node: Any = SimpleNamespace(workerinput={}, gateway=SimpleNamespace(id=name))
    progress.pytest_configure_node(node)
    WorkerFile(Path(node.workerinput[INPUT])).show(line)
    return node


def test_the_workers_stand_in_their_order(progress: WorkerProgress, shown: Shown) -> None:
    for name in ("gw10", "gw2"):
        worker(progress, name, f"{name}@c 1 of 2 samples")
    progress.show()
    assert shown.lines == ["puma: 0 of 0 cells done; gw2 gw2@c 1 of 2 samples; gw10 gw10@c 1 of 2 samples"]


def test_a_worker_that_ended_is_not_shown(progress: WorkerProgress, shown: Shown) -> None:
    progress.pytest_testnodedown(worker(progress, "gw0"))
    progress.show()
    assert shown.lines == []


def test_files_that_somebody_cleans_up_are_not_missed(progress: WorkerProgress, shown: Shown) -> None:
    node = worker(progress, "gw0")
    shutil.rmtree(Path(node.workerinput[INPUT]).parent)
    progress.show()
    progress.pytest_testnodedown(node)
    assert shown.lines == []


def test_a_file_in_the_middle_of_writing_is_not_shown(progress: WorkerProgress, shown: Shown) -> None:
    worker(progress, "gw0", "")
    worker(progress, "gw1")
    progress.show()
    assert shown.lines == [f"puma: 0 of 0 cells done; gw1 {HALF_DONE}"]
