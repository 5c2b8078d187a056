"""A worker process: a program that answers each line with a line, and is killed if it takes too long.

The first question starts it; further ones reuse it. It ends with the process that started it, whose death closes its
input.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

#: Seconds for the start: slow disks need long for large libraries.
_START = 120.0
#: Exit statuses of a process that reached its own limit of computing.
_LIMITS = {-getattr(signal, name) for name in ("SIGPROF", "SIGXCPU", "SIGVTALRM") if hasattr(signal, name)}


class WorkerProcess:
    """A Python program with its arguments, whose first line is `ready`; `seconds` is the time limit of a question.

    The program gets the module path of this process behind its arguments. Threads may share it; after a fork each
    process has its own.
    """

    def __init__(self, program: Path, arguments: Sequence[str], seconds: float) -> None:
        """Remember the program; the first question starts it."""
        self._command = [sys.executable, "-I", str(program), *arguments]
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0
        self._finish: Callable[[], object] = lambda: None

    def ask(self, question: str) -> str | None:
        """Return the answer to a line; None if the program took too long, or crashed twice.

        The cause of a crash may be an earlier question, so a fresh process gets the question again. Raises a
        `RuntimeError` if the program does not start.
        """
        with self._lock:
            for _ in range(2):
                process, start = self._running(), time.monotonic()
                answer = self._exchange(process, question, self._seconds)
                late = process.returncode in _LIMITS or time.monotonic() - start >= self._seconds
                if answer is not None or late:
                    return answer
            return None

    def close(self) -> None:
        """End the process; the next question starts another one."""
        self._process = None
        if self._owner == os.getpid():
            self._finish()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._owner == os.getpid():
            return self._process
        process = subprocess.Popen(  # noqa: S603 - a program of this package, in this interpreter
            [*self._command, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
        )
        self._process, self._owner = process, os.getpid()
        # Also called at the end of this process.
        self._finish = weakref.finalize(self, _end, process)
        first = self._exchange(process, None, _START)
        if first != "ready":
            self.close()
            msg = f"the worker process {self._command[2]} did not start: its first line is {first!r}, "
            raise RuntimeError(msg + f"its exit status {process.returncode}; expected the line 'ready'")
        return process

    def _exchange(self, process: subprocess.Popen[str], question: str | None, seconds: float) -> str | None:
        """The next line of the process, without its end; None if the process ended or was killed."""
        timer = threading.Timer(seconds, process.kill)
        timer.daemon = True
        timer.start()
        answer = ""
        try:
            if question is not None:
                print(question, file=process.stdin, flush=True)
            answer = process.stdout.readline() if process.stdout is not None else ""
        except OSError:  # the process is dead
            answer = ""
        finally:
            timer.cancel()
            # Also after an interrupt: the answer to this question must not become that to the next one.
            if not answer.endswith("\n"):
                self.close()
        return answer.rstrip("\n") if answer.endswith("\n") else None


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # a line for a dead process is left
            if stream is not None:
                stream.close()
