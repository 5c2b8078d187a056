"""The server: it imports what a run needs, and forks a process for each request."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import runpy
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import warm

_SCRIPTED = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: "Major")
"""
_TRIAGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8)
def test_triage(puma):
    pass
"""
_MESSAGE, _DESCRIPTORS = 1 << 20, 4
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Import, and serve the socket that the command line names; a forked process comes back and runs."""
    libraries = sys.path[1 + len(_python_path(os.environ)) :]
    _warm_up()
    gc.collect()
    gc.freeze()
    _be(*_serve(socket.socket(fileno=int(sys.argv[1]))), libraries)


def _warm_up() -> None:
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        Path(folder, "conftest.py").write_text(_SCRIPTED, encoding="utf-8")
        Path(folder, "test_triage.py").write_text(_TRIAGE, encoding="utf-8")
        os.chdir(folder)
        with contextlib.redirect_stdout(nowhere):
            status = pytest.main(["-p", "no:cacheprovider", "-p", "xdist"])
        os.chdir(os.sep)
    if status:
        sys.exit(f"the run that imports what a run needs: exit status {status}")
    del sys.modules["conftest"], sys.modules["test_triage"]
    # After pytest imported the plugin: it rewrites no module that was imported before.
    importlib.import_module("tests.warm.imports").import_all()


def _serve(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork a process for each request; return the request in that process, with its standard descriptors."""
    # The processes that wait for another one end by themselves, and only after it.
    for number in (signal.SIGCHLD, *_ENDINGS):
        signal.signal(number, signal.SIG_IGN)
    while True:
        message, descriptors, *_ = socket.recv_fds(connection, _MESSAGE, _DESCRIPTORS)
        if not message:
            os._exit(0)
        if not os.fork():
            connection.close()
            *standard, status = descriptors
            _fork_and_wait(status, standard)
            return json.loads(message), standard
        for each in descriptors:
            os.close(each)


def _fork_and_wait(status: int, standard: Sequence[int]) -> None:
    """Return in a forked process; its parent tells its id and, at its end, its exit status, and ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        os.write(status, f"{child}\n".encode())
        _let_go(standard)
        os.write(status, f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())
        os._exit(0)
    os.close(status)


def _let_go(descriptors: Sequence[int]) -> None:
    """A pipe ends when the process that was asked for ends: hold no end of it."""
    for each in descriptors:
        os.close(each)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)


def _be(request: Mapping[str, Any], standard: Sequence[int], libraries: list[str]) -> None:
    """Be the process that was asked for, as if Python had just started it."""
    if request["session"]:
        os.setsid()
    _take(standard)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for number in _ENDINGS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    importlib.invalidate_caches()
    _, how, *options = request["arguments"]
    if any(each.startswith("-n") for each in options):
        _fork_server(libraries)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    is_pytest = how.startswith("-m")
    sys.path[:] = [request["folder"] if is_pytest else "", *_python_path(os.environ), *libraries]
    if is_pytest:
        # What xdist passes to its workers is the path at the time of its import.
        sys.modules["xdist.plugin"]._sys_path[:] = sys.path  # noqa: SLF001
        sys.argv = ["-m", *options[how == "-m" :]]
        runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c"]
        sys.modules["__main__"] = ModuleType("__main__")
        exec(options[-1], vars(sys.modules["__main__"]))  # noqa: S102 - the words of execnet


def _take(standard: Sequence[int]) -> None:
    """Make these descriptors the standard streams, and close all others."""
    for number, each in enumerate(standard):
        os.dup2(each, number)
    os.closerange(3, max(standard) + 1)
    streams = {
        "stdin": os.fdopen(0, encoding="utf-8", closefd=False),
        "stdout": os.fdopen(1, "w", encoding="utf-8", closefd=False),
        "stderr": os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False),
    }
    for name, stream in streams.items():
        vars(sys).update({name: stream, f"__{name}__": stream})


def _fork_server(libraries: list[str]) -> None:
    """A server for the workers of this process: in its session, and as fresh as it was when it started."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    if os.fork():
        theirs.close()
        warm.install(ours)
        return
    ours.close()
    _let_go([])
    _be(*_serve(theirs), libraries)
    raise SystemExit


def _python_path(environment: Mapping[str, str]) -> list[str]:
    return [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]


if __name__ == "__main__":
    main()
