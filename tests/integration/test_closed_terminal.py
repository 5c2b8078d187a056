"""A terminal that is gone, as in `pytest | head -1`, or a full disk behind it: the run ends, and keeps what it has."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.disk import small_disk
from tests.integration.conftest import INI, ONE_PROCESS, SCRIPTED, Project
from tests.integration.test_full_disk import command_of, lines_of
from tests.responses.test_upkeep import cells, filled

#: Each test waits in its body until the reader is gone.
WAITING = """
import pathlib
import time
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3", "rcoif"], samples=4)
def test_triage(puma):
    while {waits} and not pathlib.Path({root!r}, "gone").exists():
        time.sleep(0.01)
"""
#: The model answers once the reader is gone, and the progress is shown after every batch.
SLOW = """
import pathlib
import time
from pytest_puma.session.progress.meter import Display
from pytest_puma.testing import ScriptedBackend

Display.pace = Display.patience = 0.0

def answer(prompt):
    while not pathlib.Path({root!r}, "gone").exists():
        time.sleep(0.01)
    return "Major"

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""
RAISES = """
import pytest
from pytest_puma import metric
from pytest_puma.scenarios import TriageJiraScenario

@metric(better="high")
def broken(sample, prediction):
    raise ValueError("broken")

class Broken(TriageJiraScenario):
    scores = (broken,)

@pytest.mark.puma(Broken(), strategies=["zero_shot"], samples=2)
def test_triage(puma):
    pass
"""


def closed_after(project: Project, text: str, *options: str) -> tuple[int, str]:
    """Run, read up to a text, and close the pipe. The exit status and what was written to stderr."""
    command = command_of(project, "-p", "no:cacheprovider", *options)
    with subprocess.Popen(  # noqa: S603 - ours
        command, cwd=project.pytester.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        got = b""
        while text.encode() not in got:
            chunk = os.read(process.stdout.fileno(), 1)
            assert chunk, got.decode()
            got += chunk
        process.stdout.close()
        (project.pytester.path / "gone").touch()
        errors = process.stderr.read().decode()
        return process.wait(), errors


def check_whole(folder: Path) -> set[str]:
    """Nothing is in half; return the cells that are in both files."""
    assert {path.name for path in folder.iterdir()} == {"predictions.jsonl", "run.json"}
    record: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    cells = {line["cell"]: line["predictions"] for line in lines_of(folder) if line["kind"] == "cell"}
    assert len(lines_of(folder)) == len(cells) + sum(cells.values())
    assert {outcome["cell"] for outcome in record["outcomes"]} == set(cells)
    return set(cells)


def test_a_reader_who_leaves_at_once_sees_no_traceback(project: Project) -> None:
    project.write(conftest=SCRIPTED, test_triage=WAITING.format(root=str(project.pytester.path), waits=False))
    status, errors = closed_after(project, "test session starts")
    assert (status, errors) == (1, "")


def test_what_was_computed_is_kept_where_nobody_reads_on(project: Project) -> None:
    waits = "puma.name.strategy != 'zero_shot'"
    project.write(conftest=SCRIPTED, test_triage=WAITING.format(root=str(project.pytester.path), waits=waits))
    status, errors = closed_after(project, "PASSED", "-v")
    assert (status, errors) == (1, "")
    assert check_whole(project.folder) >= {"triage_jira-zero_shot@tiny"}


@ONE_PROCESS
def test_the_store_is_pruned_and_made_one_file_where_nobody_reads_on(project: Project) -> None:
    store = project.pytester.mkdir(".puma") / "responses.sqlite"
    for old in ("one", "two", "three"):
        filled(store, old, f"{old}-x@", answers=100)
    waits = "puma.name.strategy != 'zero_shot'"
    kept = SCRIPTED.replace("ScriptedBackend(answer)", "ScriptedBackend(answer, digest='5a')")
    project.write(conftest=kept, test_triage=WAITING.format(root=str(project.pytester.path), waits=waits))
    project.pytester.makeini(f"{INI}puma_store_mb = 1\n")
    status, errors = closed_after(project, "PASSED", "-v")
    assert (status, errors) == (1, "")
    assert [each.name for each in store.parent.glob("responses*")] == ["responses.sqlite"]
    assert {"three-x@", "triage_jira-zero_shot@"} <= {*cells(store)}
    assert "one-x@" not in cells(store)


def test_a_cell_whose_progress_nobody_reads_is_kept(alone: Project) -> None:
    root = str(alone.pytester.path)
    alone.write(conftest=SLOW.format(root=root), test_triage=WAITING.format(root=root, waits=False))
    status, errors = closed_after(alone, "puma: 0 of 3 cells done; triage_jira-zero_shot@tiny 0 of 4 samples")
    assert (status, errors) == (1, "")
    assert check_whole(alone.folder) == {"triage_jira-zero_shot@tiny"}


def test_predictions_whose_metric_raises_are_kept_where_nobody_reads_on(alone: Project) -> None:
    alone.write(conftest=SLOW.format(root=str(alone.pytester.path)), test_triage=RAISES)
    status, errors = closed_after(alone, "collected 1 item")
    assert (status, errors) == (1, "")
    assert [line["kind"] for line in lines_of(alone.folder)] == ["cell", "prediction", "prediction"]


def written_to(project: Project, path: Path, *options: str) -> str:
    """Stderr of a run whose output goes to a file that becomes full."""
    command = command_of(project, "-p", "no:cacheprovider", *options)
    with path.open("wb") as stream:
        result = subprocess.run(  # noqa: S603 - ours
            command, cwd=project.pytester.path, stdout=stream, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode
    return result.stderr.decode()


def test_a_full_device_shows_no_traceback_of_ours(project: Project) -> None:
    project.write(conftest=SCRIPTED, test_triage=WAITING.format(root=str(project.pytester.path), waits=False))
    errors = written_to(project, Path("/dev/full"))
    assert "No space left on device" in errors
    assert "pytest_puma" not in errors


@pytest.mark.parametrize("columns", ["1000", "2000"])
@ONE_PROCESS
def test_a_log_on_a_full_disk_costs_no_file_of_ours(project: Project, columns: str) -> None:
    """Wide lines fill the disk in the summary, or earlier."""
    project.write(conftest=SCRIPTED, test_triage=WAITING.format(root=str(project.pytester.path), waits=False))
    with small_disk(project.pytester.path / "logs", 4) as logs, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", columns)
        errors = written_to(project, logs / "log.txt", "-v")
    assert "No space left on device" in errors
    folders = list((project.pytester.path / ".puma" / "runs").glob("*"))
    assert folders
    for folder in folders:
        assert check_whole(folder)
