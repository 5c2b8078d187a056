"""The bundled model, killed and resumed: strict runs give the bytes of an uninterrupted one."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.crash.amount import part
from tests.crash.conftest import made
from tests.crash.project import PATIENCE, CrashProject, kill, running
from tests.crash.test_kill import Record, opened
from tests.prediction_lines import prediction_lines

CELLS = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "self_consistency", "option_scoring"], samples=12)
def test_triage(puma):
    pass
"""
ALONE = ("-p", "no:xdist", "--puma-model=puma-tiny")
#: Runs of which one must be killed before its end.
ATTEMPTS = 20


def test_a_resumed_strict_run_has_the_bytes_of_an_uninterrupted_one(
    tmp_path: Path, gguf: Path, record_testsuite_property: Record
) -> None:
    flips = Resumed(tmp_path, gguf, [*ALONE, "--puma-strict"]).flips(part(10))
    record_testsuite_property("strict_flips", flips)
    assert set(flips) == {0}


def test_a_resumed_run_tells_its_mixture(tmp_path: Path, gguf: Path, record_testsuite_property: Record) -> None:
    flips = Resumed(tmp_path, gguf, ALONE).flips(part(5))
    record_testsuite_property("flips", flips)


class Resumed:
    """Runs that are killed once, and resumed; beside an uninterrupted one."""

    def __init__(self, folder: Path, gguf: Path, arguments: Sequence[str]) -> None:
        self._folder, self._gguf, self._arguments = folder, gguf, arguments
        whole = self._project("whole")
        with running(whole.start(*arguments)) as process:
            opened(whole, process, 0)
            begin = time.monotonic()
            output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        self._seconds = time.monotonic() - begin
        self._predictions = predictions(whole)

    def flips(self, rounds: int) -> list[int]:
        """The number of predictions of each resumed run that are not those of the uninterrupted one."""
        return [self._round(number) for number in range(rounds)]

    def _round(self, number: int) -> int:
        project, kept = self._killed(number)
        last = project.run(*self._arguments)
        assert last.code == 0, last.output
        kepts = [each["kept"] for each in project.records()[-1]["outcomes"] if each["kept"]]
        mixed = [each for each in kepts if each["kept"] < each["responses"]]
        strict = "--puma-strict" in self._arguments
        assert last.output.count("the rest computed without them") >= (1 if mixed and not strict else 0)
        assert sum(each["kept"] for each in kepts) >= kept
        pairs = zip(predictions(project), self._predictions, strict=True)
        return sum(one != other for one, other in pairs)

    def _killed(self, number: int) -> tuple[CrashProject, int]:
        """A project whose run was killed before its end, and the number of answers that it had kept."""
        chance = random.Random(number)  # noqa: S311 - no secret
        for attempt in range(ATTEMPTS):
            project = self._project(f"{number}-{attempt}")
            with running(project.start(*self._arguments)) as process:
                opened(project, process, 0)
                time.sleep(chance.uniform(0, self._seconds))
                ended = process.poll() is not None
                kill(process)
            kept = len(project.rows()) if project.store.exists() else 0
            if kept and not ended:
                return project, kept
        pytest.fail(f"{ATTEMPTS} runs ended or were killed before they kept an answer")

    def _project(self, name: str) -> CrashProject:
        project = made(self._folder / name, self._gguf)
        project.write("test_cells.py", CELLS)
        return project


def predictions(project: CrashProject) -> list[dict[str, Any]]:
    """The predictions of the last run in a stable order, without costs: the clock, and the tokens that were cached."""
    path = max((project.folder / ".puma" / "runs").glob("*/run.json"), key=lambda each: each.stat().st_mtime_ns)
    parsed = prediction_lines(path.with_name("predictions.jsonl"))
    for prediction in parsed:
        del prediction["usage"]
        for turn in prediction["turns"]:
            turn.pop("usage", None)
    return sorted(parsed, key=lambda each: (each["cell"], each["sample_id"]))
