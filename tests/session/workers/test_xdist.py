from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pytest_puma.session.workers.xdist import end_of, explained


def worker(code: str) -> SimpleNamespace:
    """A worker of xdist whose process runs some code."""
    process = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603
    return SimpleNamespace(gateway=SimpleNamespace(_io=SimpleNamespace(popen=process)))


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "ended by signal 40"),
        ("raise SystemExit(3)", "exit status 3"),
    ],
)
def test_the_end_of_a_process_is_named(code: str, end: str) -> None:
    assert end_of(worker(code)) == end


def test_a_worker_on_another_machine_has_no_known_end() -> None:
    assert end_of(SimpleNamespace(gateway=SimpleNamespace())) == ""
    assert explained("worker 'gw0' crashed", "", computed=False).split("\n")[0] == "worker 'gw0' crashed"


@pytest.mark.parametrize(("number", "advice"), [(signal.SIGKILL, True), (signal.SIGSEGV, False)])
def test_advice_on_memory_is_for_sigkill_alone(number: signal.Signals, advice: bool) -> None:  # noqa: FBT001
    text = explained("worker 'gw0' crashed", f"ended by {number.name}", computed=True)
    assert text.startswith(
        f"worker 'gw0' crashed (ended by {number.name})\npuma: the answers of this cell were complete"
    )
    assert ("memory is short" in text) is advice
