"""The store on a full disk and in a folder that can only be read: what it has is used, and no test fails."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.responses.database import ResponseStore
from tests.disk import OBEDIENT
from tests.integration.benchmark_files import TRIAGE
from tests.integration.conftest import INI, Project
from tests.integration.test_full_disk import command_of, run
from tests.integration.test_response_store import KEPT, rows

#: Writes its answers one by one.
SERIAL = KEPT.replace('digest="5a"', 'digest="5a", parallel=1')
TWO = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=30)
def test_triage(puma):
    pass
"""
#: No file of a process can have more bytes; those of the run folder are smaller.
SMALL_FILES = """
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
"""
#: SQLite finds the disk full.
FEW_PAGES = """
import pytest_puma.responses.file

opened = pytest_puma.responses.file.open_to_write

def open_to_write(path):
    store = opened(path)
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages + 5}")
    return store

pytest_puma.responses.file.open_to_write = open_to_write
"""


def test_a_full_disk_fails_no_test_and_the_resumed_run_asks_for_the_rest(project: Project) -> None:
    check_rest(project, FEW_PAGES, "database or disk is full")


def test_a_limit_of_file_sizes_is_like_a_full_disk(alone: Project) -> None:
    check_rest(alone, SMALL_FILES, "disk I/O error")


def check_rest(project: Project, limit: str, reason: str) -> None:
    """A run under a limit has one warning, and the next one computes what was not kept."""
    project.write(conftest=SERIAL + limit, test_triage=TWO)
    result = run(project)
    assert result.returncode == 0, result.stdout
    (warning,) = [line for line in result.stdout.splitlines() if line.startswith("warning")]
    assert warning.endswith(f"from now on, no answers are kept in {store_of(project)}: {reason}")
    ((kept,),) = rows(project)
    assert 0 < kept < 60
    project.write(conftest=SERIAL)
    resumed = run(project)
    assert resumed.returncode == 0, resumed.stdout
    shown = f"{kept} of 30 in 1 cell" if kept < 30 else f"{kept} of 60 in 2 cells"
    assert f"kept answers: {shown}, from run " in resumed.stdout
    assert rows(project) == [(60,)]


#: Ends like a process that the system kills, when all answers are in the log.
KILLED = f"import os\n{TRIAGE.replace('    pass', '    os.kill(os.getpid(), 9)')}"


def store_of(project: Project) -> Path:
    return project.pytester.path / ".puma" / "responses.sqlite"


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """A folder whose files can be read, not written."""
    files = [*folder.iterdir()]
    for file in files:
        file.chmod(0o400)
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)
        for file in files:
            file.chmod(0o600)


@pytest.mark.parametrize("state", ["closed", "killed"])
def test_a_folder_that_can_only_be_read_gives_all_answers(alone: Project, state: str) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE if state == "closed" else KILLED)
    alone.pytester.makeini(f"{INI}puma_store_path = kept/responses.sqlite\n")
    command = command_of(alone, "-p", "no:cacheprovider")
    first = subprocess.run(command, cwd=alone.pytester.path, check=False, capture_output=True)  # noqa: S603 - ours
    assert first.returncode == (0 if state == "closed" else -9)
    store = alone.pytester.path / "kept" / "responses.sqlite"
    log, shared = (store.with_name(f"{store.name}{suffix}") for suffix in ("-wal", "-shm"))
    if state == "closed":
        assert [*store.parent.iterdir()] == [store]
    else:
        check_rows_are_in_the_log(store, alone.pytester.path / "copy.sqlite")
        assert log.exists()
    alone.write(conftest=KEPT + OBEDIENT, test_triage=TRIAGE)
    before = {file.name: file.read_bytes() for file in store.parent.iterdir() if file != shared}
    # The answers are those of a script, which has a digest of its own: offline, the file would mean its own weights.
    named = replace(alone, model=Path(alone.model.stem))
    with readable(store.parent):
        results = [run(named, "-p", "no:cacheprovider", "--puma-offline"), run(alone, "-p", "no:cacheprovider")]
    outputs = [result.stdout for result in results]
    assert [result.returncode for result in results] == [0, 0], outputs
    for output in outputs:
        assert "kept answers: all 8 of 1 cell" in output
    assert f"{store} can only be read, so that no answers are kept: " in outputs[1]
    assert (alone.pytester.path / "computed.txt").read_text() == "x" * 8
    assert {file.name: file.read_bytes() for file in store.parent.iterdir() if file != shared} == before


def check_rows_are_in_the_log(store: Path, copy: Path) -> None:
    """Nothing is in the file itself."""
    shutil.copyfile(store, copy)
    with closing(ResponseStore(copy, readonly=True)) as reader:
        assert reader.rows("SELECT count(*) FROM response") in ([], [(0,)])
    copy.unlink()
