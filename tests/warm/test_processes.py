"""A process from the server is like one that Python has just started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm

#: What a test can see of its process.
SEEN = """
import os, sys, threading

def test_seen():
    modules = [name for name in sys.modules if name.startswith("tests")]
    seen = sys.argv[1:], os.getcwd(), os.environ["TELL"], sys.path, type(sys.stdin), threading.active_count(), modules
    with open("seen.txt", "a", encoding="utf-8") as file:
        print(seen, file=file)
"""


@pytest.fixture(params=["cold", "warm"])
def start(request: pytest.FixtureRequest) -> type[subprocess.Popen[Any]]:
    """Both ways: the warm one is installed when the first test begins."""
    assert subprocess.Popen is not warm.COLD
    if request.param == "cold":
        return warm.COLD
    return subprocess.Popen


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]


def test_it_sees_what_a_new_process_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELL", "told")
    (tmp_path / "test_seen.py").write_text(SEEN, encoding="utf-8")
    for start in (warm.COLD, subprocess.Popen):
        for workers in ("-n0", "-n1"):
            with start(command(workers), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
                output, _ = process.communicate(timeout=120)
            assert process.returncode == 0, output
            # pytest warns of modules that it can no longer rewrite.
            assert b"warning" not in output
    cold, cold_worker, forked, forked_worker = (tmp_path / "seen.txt").read_text(encoding="utf-8").splitlines()
    assert "told" in forked
    assert (forked, forked_worker) == (cold, cold_worker)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_signals_reach_it_and_its_status_tells(
    start: type[subprocess.Popen[Any]], ending: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "test_waits.py").write_text("import time\ndef test():\n    print('ready', flush=True); time.sleep(60)")
    with start(command("-s"), cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        while "ready" not in process.stdout.readline():
            assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
        os.killpg(process.pid, ending)
        assert process.wait(timeout=60) == (pytest.ExitCode.INTERRUPTED if ending == signal.SIGINT else -ending)


def test_streams_are_those_that_were_given(start: type[subprocess.Popen[Any]], tmp_path: Path) -> None:
    with start(
        command("--nonsense"), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert output == ""
    assert re.search("unrecognized arguments: --nonsense", errors)


def test_other_settings_of_the_interpreter_count(tmp_path: Path) -> None:
    code = "import sys\ndef test(): assert sys.flags.hash_randomization == 0"
    (tmp_path / "test_flags.py").write_text(code, encoding="utf-8")
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    assert subprocess.run(command(), cwd=tmp_path, env=environment, check=False).returncode == 0  # noqa: S603 - ours
