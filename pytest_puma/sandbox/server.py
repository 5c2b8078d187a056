r"""The process that runs programs, one after the other, each in a fork of its own that gives up its rights.

server.py MODE LANDLOCK WRAPPER PATH...

MODE: "sandbox" or "unconfined"; LANDLOCK: its version, 0 for none; WRAPPER: bwrap, empty with Landlock; PATH: of
modules. Each line of its input is a program as JSON, each line of its output what happened:

    {"text": "print(1)", "seconds": 5, "megabytes": 512, "packages": false}
    {"passed": true, "status": 0, "late": false, "output": "1\n", "seconds": 0.01}

A program in another language has the commands that compile and run it (`commands`):

    {"text": "...", "seconds": 5, "megabytes": 512, "commands": [["/usr/bin/g++", ...], ["./program"]], ...}

A program has an empty environment, no input, and the modules of the standard library. It passed if its fork wrote a
secret behind all its output, which it does after the last line of the program, and then ended with status 0: a program
that leaves early, or prints what it thinks the verdict is, has failed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

#: Bytes that are kept of the end of an output.
_KEPT = 4000
_CHUNK = 1 << 16
_FILES = 64
#: The name of a program as a module.
_NAME = "program"
#: The environment of programs; an equal program gives equal results.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}


def main() -> None:
    """Answer each line, in an environment without the secrets of the one that started this process."""
    mode, version, wrapper, *paths = sys.argv[1:]
    if sys.flags.isolated:  # as it was started, with the environment of a user
        command = [*_wrapping(wrapper), sys.executable, "-s", "-B", *sys.argv]
        # Some installations of Python do not start without their path of libraries.
        libraries = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
        os.execve(command[0], command, ENVIRONMENT | libraries)  # noqa: S606 - itself
    os.setsid()
    standard = [path for path in sys.path[1:] if not path.endswith("-packages")]
    installed = [path for path in sys.path if path.endswith("-packages")]
    # Behind the standard library: files of a user may have names of its modules.
    sys.path[:] = [*standard, *paths]
    from pytest_puma.sandbox.compiled import run_commands
    from pytest_puma.sandbox.confinement import Workplace, confine, end_with_parent

    sys.path[:] = standard

    server = os.getpid()

    def give_up_rights(*, packages: bool = False, workplace: Workplace | None = None) -> None:
        end_with_parent(server)
        if packages:
            sys.path.extend(installed)
        if mode != "unconfined":
            confine(int(version), installed if packages else (), workplace)

    replies = sys.stdout
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        program = json.loads(line)
        program["stays"] = program.get("stays") or mode == "unconfined"
        happened = run_commands(program, give_up_rights) if program.get("commands") else run(program, give_up_rights)
        print(json.dumps(happened), file=replies, flush=True)


def _wrapping(wrapper: str) -> list[str]:
    """The beginning of the command that starts this process in bwrap: it sees what it needs to run, to read alone."""
    if not wrapper:
        return []
    seen = [
        "/usr",
        "/bin",
        "/lib",
        "/lib64",
        "/etc/ld.so.cache",
        sys.prefix,
        sys.base_prefix,
        Path(__file__).parents[1],
    ]
    binds = [word for path in map(str, seen) for word in ("--ro-bind-try", path, path)]
    return [
        wrapper,
        "--unshare-all",
        "--die-with-parent",
        "--dev",
        "/dev",
        *binds,
        "--remount-ro",
        "/",
        "--chdir",
        "/",
        "--",
    ]


def run(program: Mapping[str, Any], give_up_rights: Callable[..., None]) -> dict[str, Any]:
    """Run a program in a fork, and wait for its end or its limit."""
    secret = os.urandom(16).hex().encode()
    reading, writing = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if not child:
        _become(program, give_up_rights, writing, secret)
    os.close(writing)
    killed = False

    def kill(_signal: int, _frame: FrameType | None) -> None:
        nonlocal killed
        killed = True
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, 2 * program["seconds"] + 2)
    output = b""
    while chunk := os.read(reading, _CHUNK):
        output = (output + chunk)[-_KEPT:]
    _, ended, usage = os.wait4(child, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.close(reading)
    status = os.waitstatus_to_exitcode(ended)
    computed = usage.ru_utime + usage.ru_stime
    return {
        "passed": status == 0 and output.endswith(secret),
        "status": status,
        "late": killed or status == -signal.SIGXCPU or (status < 0 and computed >= program["seconds"]),
        "output": output.removesuffix(secret).decode(errors="replace"),
        "seconds": time.monotonic() - started,
    }


def _become(program: Mapping[str, Any], give_up_rights: Callable[..., None], output: int, secret: bytes) -> NoReturn:
    """Become the program: nothing of this process is open any more."""
    leave, write = os._exit, os.write
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 1 << 16)
        os.chdir("/")
        _limit(program["seconds"], program["megabytes"] << 20)
        give_up_rights(packages=program["packages"])
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", encoding="utf-8"), os.fdopen(2, "w")
        sys.argv[:] = [""]
        # No part behind `if __name__ == "__main__"` is run: replies end with examples that wait for input.
        module = sys.modules["__main__"] = sys.modules[_NAME] = ModuleType(_NAME)
        flush = sys.stdout.flush
        exec(compile(program["text"], "<program>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
        flush()
    except BaseException as error:  # noqa: BLE001 - also what ends an interpreter
        # Without the frame of this function.
        try:
            lines = traceback.format_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
            write(2, "".join(lines).encode(errors="replace"))
        finally:
            # Also if the program replaced a function that this one needs: it must not return into this process.
            leave(1)
    write(1, secret)
    leave(0)


def _limit(seconds: int, memory: int) -> None:
    """Limit computing, memory and files. macOS has no limit of memory."""
    limits = {"CPU": (seconds, seconds + 1), "CORE": (0, 0), "NOFILE": (_FILES, _FILES)}
    for name, pair in {**limits, "AS": (memory, memory)}.items():
        with suppress(*() if sys.platform == "linux" else (ValueError, OSError)):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), pair)


if __name__ == "__main__":
    main()
