"""The progress of long cells: in a log, on a terminal, with kept answers, and from workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.integration.conftest import TRIAGE, Project

#: Lines come at once and not after half a minute, and each answer takes a while.
SLOW = """
import time
from pytest_puma.session.progress import workers
from pytest_puma.session.progress.meter import Display, Live, WorkerFile
from pytest_puma.testing import ScriptedBackend

Display.pace = Display.patience = {plain}
Live.pace = WorkerFile.pace = 0.01
Live.patience = 0.0
workers.SECOND = 0.05

ANSWERS = []

def answer(prompt):
    time.sleep({seconds})
    return "Major"

def pytest_puma_backend(model):
    return ScriptedBackend(answer, digest="5a" * 32, parallel=2)
"""
#: The fourth answer ends the process, once.
CRASHES = """
    import os
    ANSWERS.append(prompt)
    if len(ANSWERS) == 4 and not os.path.exists("crashed"):
        open("crashed", "w").close()
        os._exit(1)
"""
TWO = TRIAGE.replace('["zero_shot"]', '["zero_shot", "rcoif"]')
LINE = r"puma: (\d) of (\d) cells done; (gw\d )?triage_jira-(\w+)@tiny (\d) of 8 samples"


def slow(project: Project, *, plain: float = 0.0, seconds: float = 0.0, test: str = TRIAGE) -> Project:
    project.write(conftest=SLOW.format(plain=plain, seconds=seconds), test_triage=test)
    return project


@pytest.fixture
def alone(alone: Project) -> Project:
    return slow(alone)


@pytest.fixture
def workers(alone: Project) -> Project:
    """A project in which each answer takes so long that a worker is seen between two of them."""
    slow(alone, seconds=0.05, test=TWO)
    return Project(alone.pytester, alone.model, 2)


def readings(text: str) -> list[tuple[str, ...]]:
    """Finished and all cells, worker, strategy and answered samples of each line."""
    return re.findall(LINE, text)


# -- one process -----------------------------------------------------------------------------------


def test_a_long_cell_tells_a_log_how_far_it_is(alone: Project) -> None:
    slow(alone, test=TWO)
    progress = readings(alone.run().stdout.str())
    assert {reading[:4] for reading in progress} == {("0", "2", "", "zero_shot"), ("1", "2", "", "rcoif")}
    answered = [int(reading[4]) for reading in progress if reading[3] == "rcoif"]
    assert answered == sorted(answered)
    assert {0, 2, 4, 6} <= set(answered) <= set(range(8))


def test_a_line_has_the_speed_and_the_time_that_is_left(alone: Project) -> None:
    alone.run().stdout.re_match_lines([r".* 4 of 8 samples, [\d,]+ tokens/s, about \d+ s left$"])


def test_kept_answers_are_told_and_say_nothing_about_the_time_that_is_left(alone: Project) -> None:
    alone.run("--puma-samples=4")
    text = alone.run("--puma-samples=8").stdout.str()
    assert re.search(r" 4 of 8 samples, 4 answers kept$", text, re.MULTILINE)
    assert re.search(r" 4 of 8 samples, 4 answers kept, [\d,]+ tokens/s$", text, re.MULTILINE)
    assert re.search(r" 6 of 8 samples, 4 answers kept, [\d,]+ tokens/s, about \d s left$", text, re.MULTILINE)


def test_a_log_has_a_line_after_half_a_minute(alone: Project) -> None:
    slow(alone, plain=30.0)
    assert readings(alone.run().stdout.str()) == []


def test_quiet_is_quiet(alone: Project) -> None:
    assert readings(alone.run("-q").stdout.str()) == []


# -- workers ---------------------------------------------------------------------------------------


def test_the_process_that_started_the_workers_tells_how_far_they_are(
    workers: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workers.pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    # The response store is not needed for it.
    result = workers.run("--dist=load", "--puma-store=off")
    result.assert_outcomes(passed=2)
    progress = readings(result.stdout.str())
    assert {reading[:2] for reading in progress} <= {("0", "2"), ("1", "2")}
    assert {reading[2] for reading in progress} <= {"gw0 ", "gw1 "}
    assert max(int(reading[4]) for reading in progress) > 0
    assert [line for line in result.outlines if len(re.findall(r"gw\d triage_jira-\w+@tiny", line)) == 2]
    assert list(folder.glob("pytest-puma-*")) == []


def test_a_worker_that_crashes_in_its_cell_is_told_no_more(workers: Project) -> None:
    conftest = workers.pytester.path / "conftest.py"
    text = conftest.read_text(encoding="utf-8").replace('    return "Major"', f"{CRASHES}    return 'Major'")
    conftest.write_text(text, encoding="utf-8")
    result = workers.run("--max-worker-restart=1")
    result.assert_outcomes(passed=1, failed=1)
    before, crashed, after = re.split(r"replacing crashed worker (gw\d)", result.stdout.str())
    assert {reading[2] for reading in readings(before)} == {f"{crashed} "}
    assert f"{crashed} triage" not in after.partition("= FAILURES =")[0]
    assert readings(after)


def test_workers_of_a_suite_without_benchmarks_tell_nothing(workers: Project) -> None:
    workers.write(test_triage="import time\n\ndef test_sleep():\n    time.sleep(0.2)\n")
    result = workers.run(model=False)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("puma:*")


# -- a terminal ------------------------------------------------------------------------------------


def on_terminal(project: Project, *options: str) -> str:
    """Run pytest on a pseudo-terminal of 100 columns; return what it wrote."""
    pty = pytest.importorskip("pty", reason="a terminal of POSIX systems")
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "pytest", f"--puma-model={project.model}", *options]
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=project.pytester.path, env=environment, stdout=child, stderr=child) as process:  # noqa: S603 - ours
        os.close(child)
        written = bytearray()
        while True:
            try:
                chunk = os.read(parent, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not chunk:
                break
            written += chunk
    os.close(parent)
    assert process.returncode == 0, written.decode()
    return written.decode()


@pytest.mark.parametrize("options", [["-p", "no:xdist"], ["-n", "1"], ["-n", "1", "-v"]], ids=["alone", "n", "nv"])
def test_a_terminal_has_one_live_line_that_is_erased(workers: Project, options: list[str]) -> None:
    slow(workers, seconds=0.15, test=TWO)
    written = on_terminal(workers, *options, "--puma-store=off")
    lives = re.findall(r"\r(puma: \d of 2 cells done; [^\r]*)", written)
    assert len({live.partition("@")[2] for live in lives}) > 1
    assert {len(live) for live in lives} == {99}
    # On the screen nothing of it is left: a carriage return takes back what stands in its line.
    screen = [_screen(line) for line in written.replace("\r\n", "\n").split("\n")]
    assert not [line for line in screen if "cells done" in line]
    assert (
        sum(line.count("PASSED") or re.sub(r"\[.*|test_triage.py", "", line).count(".") for line in screen[4:12]) >= 1
    )


def _screen(written: str) -> str:
    """A line as a terminal shows it."""
    shown: list[str] = []
    for part in re.sub(r"\x1b\[[\d;]*[mK]", "", written).split("\r"):
        shown[: len(part)] = part
    return "".join(shown).rstrip()
