"""Processes of pytest that start with their imports done.

Most tests of runs start pytest, many with workers, and each start takes seconds to import pandas, SciPy and the plugin.
A server imports them once and then forks: each process is a real one, with its own memory, signals and exit status.
`install` makes `subprocess.Popen` start `python -m pytest` and the workers of xdist this way. Any other command, and
any with other settings of the interpreter or of the operating system, starts as always.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

#: What xdist passes to Python to start a worker (`execnet.gateway_io.popen_bootstrapline`).
BOOTSTRAP = "import sys;exec(eval(sys.stdin.readline()))"
#: Starts each process as always.
COLD = subprocess.Popen
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


class _Server:
    """The server of this process, which the first warm process starts."""

    connection: socket.socket | None = None
    process: subprocess.Popen[bytes] | None = None


def install(connection: socket.socket | None = None) -> None:
    """Start from a server what can be: from one that is connected, or else from one of this process.

    Elsewhere than on Linux libraries do not survive a fork, and each process starts as always.
    """
    if sys.platform == "linux":
        _Server.connection = connection
        subprocess.Popen = _Popen  # type: ignore[misc]


def uninstall() -> None:
    """Start each process as always; end the server."""
    subprocess.Popen = COLD  # type: ignore[misc]
    if _Server.process is not None and _Server.connection is not None:
        _Server.connection.close()
        _Server.process.wait()
        _Server.connection = _Server.process = None


class _Popen(COLD[Any]):
    """`subprocess.Popen` whose process is forked by the server, where it can be."""

    #: Here the server tells the process's id and, later, its exit status; None for a process that it did not fork.
    _status: TextIO | None = None

    def _execute_child(self, *values: Any, **named: Any) -> None:
        cold = super()._execute_child  # type: ignore[misc]
        given = inspect.signature(cold).bind(*values, **named).arguments
        environment = os.environ if given["env"] is None else given["env"]
        cannot = given["preexec_fn"] or given["pass_fds"] or _settings(environment) != _SETTINGS
        if cannot or not _is_known(given["args"]):
            cold(*values, **named)
            return
        request = {
            "arguments": list(map(os.fspath, given["args"])),
            "folder": str(Path(given["cwd"] or os.curdir).absolute()),
            "environment": dict(environment),
            "session": given["start_new_session"],
        }
        ends = (given[name] for name in ("p2cread", "c2pwrite", "errwrite"))
        standard = [number if end == -1 else end for number, end in enumerate(ends)]
        reading, writing = os.pipe()
        socket.send_fds(_connection(), [json.dumps(request).encode()], [*standard, writing])
        os.close(writing)
        self._status = os.fdopen(reading, encoding="ascii")
        self.pid = int(self._status.readline())
        self._child_created = True
        self._close_pipe_fds(*(given[name] for name in _PIPES))  # type: ignore[attr-defined]

    def poll(self) -> int | None:
        if self._status is None:
            return super().poll()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self._status is None:
            return super().wait(timeout)
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            # Nothing is told if all of them were killed together.
            self.returncode = int(self._status.readline() or -signal.SIGKILL)
            self._status.close()
        return self.returncode


def _is_known(command: object) -> bool:
    match command:
        case [sys.executable, "-m", "pytest", *_] | [sys.executable, "-mpytest", *_]:
            return True
        case [sys.executable, "-u", "-c", source]:
            return source == BOOTSTRAP
        case _:
            return False


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that count when a process starts, or loads a library: a forked one has those of its server."""
    prefixes = ("PYTHON", "LD_", "OPENBLAS_", "OMP_", "MKL_")
    return {name: value for name, value in environment.items() if name.startswith(prefixes) and name != "PYTHONPATH"}


def _connection() -> socket.socket:
    if _Server.connection is None:
        _Server.connection, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.warm.server", str(theirs.fileno())]
            _Server.process = COLD(
                command, cwd=Path(__file__).parents[2], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
    return _Server.connection


_SETTINGS = _settings(os.environ)
