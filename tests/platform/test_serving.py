from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from pytest_puma.platform import serving


def test_each_line_has_an_answer_and_odd_arguments_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []
    has_timers = hasattr(signal, "setitimer")
    if has_timers:
        monkeypatch.setattr(signal, "setitimer", lambda _, seconds: limits.append(seconds))
    calls: list[tuple[Any, Any]] = []

    def divided(left: float, right: float) -> float:
        calls.append((left, right))
        return left / right

    lines = "[1, 2]\n[1, 0]\n[1]\n[\n[3, 1]\n"
    replies = io.StringIO()
    serving.serve(divided, (9, 3), io.StringIO(lines), replies, seconds=7)
    assert replies.getvalue().splitlines() == ["ready", "0.5", "null", "null", "null", "3.0"]
    # The first call is the example. A process that waits needs no limit.
    assert calls == [(9, 3), (1, 2), (1, 0), (3, 1)]
    assert limits == [7, 0] * 5 * has_timers


def run(folder: Path, value: str, *questions: Any, seconds: int = 5, size: int = 1 << 30) -> CompletedProcess[str]:
    """Run the program with a function whose value is an expression of `x`, and a library that prints."""
    (folder / "noisy.py").write_text("print('Loading ...')\n")
    (folder / "own.py").write_text(f"import noisy\n\ndef own(x):\n    print(ascii(x))\n    return {value}\n")
    command = [sys.executable, "-I", serving.__file__, str(folder / "own.py"), "own", "[1]", str(seconds), str(size)]
    lines = "".join(f"{json.dumps([question])}\n" for question in questions)
    return subprocess.run([*command, str(folder), *sys.path], input=lines, capture_output=True, text=True, check=False)  # noqa: S603 - as written here


def test_the_program_finds_modules_by_its_arguments_and_prints_replies_alone(tmp_path: Path) -> None:
    done = run(tmp_path, "x + x", 2, "ä", "\ud800")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["ready", "4", r'"\u00e4\u00e4"', r'"\ud800\ud800"']


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers of POSIX")
@pytest.mark.parametrize(("seconds", "power", "survives"), [(1, 16, False), (1, 8, True), (0, 14, True)])
def test_the_system_ends_a_process_in_the_middle_of_one_operation(
    tmp_path: Path, seconds: int, power: int, *, survives: bool
) -> None:
    # The first power is one operation of many seconds, in which no thread and no signal handler of Python runs.
    done = run(tmp_path, "3 ** 3 ** x > 0", power, seconds=seconds)
    assert done.stdout.splitlines() == (["ready", "true"] if survives else ["ready"])
    assert done.returncode == (0 if survives else -signal.SIGPROF)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_memory_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "len(bytearray(x)) > 0", 1 << 27, 1 << 30, size=1 << 29)
    assert done.stdout.splitlines() == ["ready", "true", "null"]
    assert done.returncode == 0
