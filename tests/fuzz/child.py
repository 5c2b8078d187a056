"""A child process that computes with limits on its memory and time: what hangs or eats memory ends it, not the tests.

python -m tests.fuzz.child tests.fuzz.templates:rendered 512
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from types import TracebackType
from typing import Any


class Child:
    """Computes a function of JSON values; `megabytes` are what it may take beyond what it needs to start."""

    def __init__(self, function: Callable[[Any], Any], *, megabytes: int, seconds: float) -> None:
        self._command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            __name__,
            f"{function.__module__}:{function.__name__}",
            str(megabytes),
        ]
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Child:  # noqa: PYI034 - Python 3.10 has no Self
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    def ask(self, value: Any) -> Any:
        """Return the result; an `AssertionError` if the child hangs, dies or lets an error escape."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        # A pipe that nobody reads any more is reported by the empty answer.
        timer = threading.Timer(self._seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(value) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            process.wait()
            self._end()
            msg = f"the child ended with {process.returncode} (-9: after {self._seconds} s)"
            raise AssertionError(msg)
        answer = json.loads(line)
        assert "escaped" not in answer, answer["escaped"]
        return answer["result"]

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            root = Path(__file__).parents[2]
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _serve(function: Callable[[Any], Any], megabytes: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        try:
            answer = {"result": function(json.loads(line))}
        except BaseException as error:  # noqa: BLE001 - any is a finding
            answer = {"escaped": f"{type(error).__name__}: {error}"[:1000]}
        print(json.dumps(answer), flush=True)  # noqa: T201 - to the parent


if __name__ == "__main__":
    _serve(resolve_name(sys.argv[1]), int(sys.argv[2]))
