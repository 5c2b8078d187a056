"""Processes beside this one: a program that may crash, a worker that answers lines, a function with limits.

Some regular expressions, and some comparisons of formulas, never end, and no thread can stop them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.platform import serving

#: Seconds of computing for one call.
SECONDS = 5
#: Bytes of address space of the process; SymPy itself needs a quarter.
MEMORY = 1 << 30
#: Seconds of waiting for one call. Only where systems cannot limit computing it is short: machines may be busy.
_WAIT = 600.0 if hasattr(signal, "setitimer") else 30.0
#: Seconds for the start: slow disks need long for large libraries.
_START = 120.0
#: Exit statuses of a process that reached its own limit of computing.
_LIMITS = {-getattr(signal, name) for name in ("SIGPROF", "SIGXCPU", "SIGVTALRM") if hasattr(signal, name)}


def run_program(program: Path, argument: str | Path, *, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program in this interpreter; `sys.argv` has the argument, then the module path of this process.

    Raises a `subprocess.TimeoutExpired`.
    """
    return subprocess.run(  # noqa: S603 - a program of this package, in this interpreter
        [sys.executable, "-I", program, argument, *sys.path],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
        # Without it, llama.cpp starts a debugger before it aborts.
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )


def signal_name(number: int) -> str:
    """Return `SIGKILL`, or `signal 99` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class WorkerProcess:
    """A Python program that answers each line with a line, and is killed if it takes too long.

    Its first line is `ready`; `seconds` is the time limit of a question. The first question starts it; further ones
    reuse it. It ends with the process that started it, whose death closes its input. The program gets the module path
    of this process behind its arguments. Threads may share it; after a fork each process has its own.
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
            with contextlib.suppress(OSError):  # the process is dead
                if question is not None:
                    print(question, file=process.stdin, flush=True)
                answer = process.stdout.readline() if process.stdout is not None else ""
        finally:
            timer.cancel()
            # Also after an interrupt: the answer to this question must not become that to the next one.
            if not answer.endswith("\n"):
                self.close()
        return answer.rstrip("\n") if answer.endswith("\n") else None


class BoundedFunction(WorkerProcess):
    """A function with limits of time and memory, computed in a process of its own, which is ended beyond them.

    It is the function `name` of a Python `file`, which may import libraries but nothing of this package.

    Arguments and value are those that JSON has. `example`: arguments of a first call, which imports what later calls
    need, without a limit of time. The first call starts the process; all later ones of this process share it.
    """

    def __init__(self, file: Path, name: str, example: Sequence[Any], *, seconds: int = SECONDS) -> None:
        """Remember the function."""
        arguments = [str(file), name, json.dumps(example), str(seconds), str(MEMORY)]
        super().__init__(Path(serving.__file__), arguments, _WAIT)

    def __call__(self, *arguments: Any) -> Any:
        """Return the value; None if the function raised, computed for too long, or needed too much memory.

        Raises a `RuntimeError` if the process does not start.
        """
        reply = self.ask(json.dumps(arguments))
        return None if reply is None else json.loads(reply)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # a line for a dead process is left
            if stream is not None:
                stream.close()
