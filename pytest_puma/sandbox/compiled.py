"""A program in another language than Python: its commands run one after the other, in a folder of their own.

Compilers and shells start processes, whose number the kernel limits. They are one group, which none leaves. It is
watched, and ended if all of it together takes more memory or computing than one program may: limits of the system hold
for each process alone.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from pytest_puma.sandbox.confinement import Workplace

#: Bytes that are kept of the end of an output, and of a file that a command writes.
_KEPT, _FILE = 4000, 64 << 20
_CHUNK = 1 << 16
#: Characters at the end of a program that may be the end of its main function.
_END = 200
#: Threads of all processes, and open files of each.
_THREADS, _FILES = 64, 256
#: Where root runs a program, it is another user, one for each process that runs programs: root has no limit of threads.
_FIRST_USER, _USERS = 50_000, 10_000
#: Seconds between two looks at a group, and those of computing that a compiler has.
_LOOK, _COMPILING = 0.1, 30
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class _Limits:
    """Of the group of a command: `seconds` of computing, and bytes of memory."""

    seconds: int
    memory: int


def run_commands(program: Mapping[str, Any], give_up_rights: Callable[..., None]) -> dict[str, Any]:
    """Compile and run a program; it passed if it printed a secret word behind all its output, and ended well."""
    secret = os.urandom(16).hex()
    text, last = program["text"].rstrip(), program["last"].format(secret)
    # Only there: patterns take long on a text with much space.
    found = re.compile(program["end"]).search(text, max(0, len(text) - _END))
    place = found.start() if found else len(text)
    text = f"{text[:place]}{last}{text[place:]}"
    started, happened = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / program["file"]).write_text(text, encoding="utf-8", errors="replace")
        commands = program["commands"]
        for command in commands:
            runs = command is commands[-1]
            limits = _Limits(program["seconds"] if runs else _COMPILING, program["megabytes"] << 20)
            leaves = runs and not program["stays"] and not os.geteuid()
            user = _FIRST_USER + os.getpid() % _USERS if leaves else os.geteuid()
            starts, threads = not runs or program["starts"], _threads_of(user) + _THREADS
            tools = () if command[0].startswith("./") else program["tools"]
            workplace = Workplace(folder, tools, changes=not runs, starts=starts, threads=threads)
            if runs:
                _hand_over(Path(folder), user)
            happened = _run(command, workplace, limits, partial(_give_up, user, give_up_rights))
            if happened["status"] or happened["late"]:
                break
    output = happened["output"]
    return {
        **happened,
        "passed": runs and not happened["status"] and output.endswith(secret),
        "output": output.removesuffix(secret),
        "compiled": runs,
        "seconds": time.monotonic() - started,
    }


def _run(
    command: Sequence[str], workplace: Workplace, limits: _Limits, give_up_rights: Callable[..., None]
) -> dict[str, Any]:
    """Run a command in a fork, and wait for the end of all its processes or for a limit."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _become(command, workplace, limits, give_up_rights, writing)
    os.close(writing)
    killed, deadline = "", time.monotonic() + 2 * limits.seconds + 2

    def look(_signal: int, _frame: FrameType | None) -> None:
        nonlocal killed
        excess = "time" if time.monotonic() >= deadline else _excess(child, limits)
        if excess:
            killed = killed or excess
            _end(child)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
    output = b""
    while chunk := os.read(reading, _CHUNK):
        output = (output + chunk)[-_KEPT:]
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    _end(child)  # what the command has left behind
    signal.setitimer(signal.ITIMER_REAL, 0)
    _, ended = os.waitpid(child, 0)
    os.close(reading)
    status = os.waitstatus_to_exitcode(ended)
    shown = output.decode(errors="replace")
    if killed and killed != "time":
        shown += f"[ended at its limit of {killed}]"
    return {"status": status, "late": killed == "time" or status == -signal.SIGXCPU, "output": shown}


def _become(
    command: Sequence[str],
    workplace: Workplace,
    limits: _Limits,
    give_up_rights: Callable[..., None],
    output: int,
) -> NoReturn:
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 1 << 16)
        os.chdir(workplace.folder)
        # Not of addresses: runtimes reserve far more than they use. Computing ends by the look at the group before.
        pairs = {
            "CPU": (limits.seconds + 1, limits.seconds + 2),
            "DATA": (limits.memory, limits.memory),
            "CORE": (0, 0),
        }
        for name, pair in {**pairs, "FSIZE": (_FILE, _FILE), "NOFILE": (_FILES, _FILES)}.items():
            with suppress(ValueError, OSError):  # macOS
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), pair)
        give_up_rights(workplace)
        os.execve(command[0], list(command), _environment(workplace))  # noqa: S606 - the program to run
    except BaseException as error:  # noqa: BLE001 - this process must not return into the one that forked it
        os.write(2, repr(error).encode(errors="replace"))
    os._exit(127)


def _give_up(user: int, give_up_rights: Callable[..., None], workplace: Workplace) -> None:
    if user != os.geteuid():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    give_up_rights(workplace=workplace)


def _hand_over(folder: Path, user: int) -> None:
    """Let another user read and run the files of a folder."""
    if user != os.geteuid():
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)


def _threads_of(user: int) -> int:
    """The threads that a user has, which count where the system grants no namespace."""
    count = 0
    for folder in Path("/proc").glob("[1-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                count += len(list((folder / "task").iterdir()))
    return count


def _environment(workplace: Workplace) -> dict[str, str]:
    tools = [os.fspath(Path(tool) / "bin") for tool in workplace.tools]
    folders = dict.fromkeys(("HOME", "TMPDIR"), workplace.folder)
    jars = [tool for tool in workplace.tools if tool.endswith(".jar")]
    # Node refuses to start if it cannot read the settings of the system.
    settings = {"LC_ALL": "C.UTF-8", "OPENSSL_CONF": os.devnull, "CLASSPATH": os.pathsep.join([*jars, "."])}
    settings |= {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    return {"PATH": os.pathsep.join([*tools, "/usr/local/bin", "/usr/bin", "/bin"]), **folders, **settings}


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has just ended
        os.killpg(group, signal.SIGKILL)


def _excess(group: int, limits: _Limits) -> str:
    """What the processes of a group have too much of, by the numbers of /proc/*/stat; empty if it is nothing."""
    ticks, pages = 0, 0
    for statistics in Path("/proc").glob("[1-9]*/stat"):
        with suppress(OSError):
            # The name of a program, in parentheses, may have spaces and any bytes.
            numbers = statistics.read_bytes().rpartition(b")")[2].split()
            if int(numbers[2]) == group:
                ticks += sum(map(int, numbers[11:15]))
                pages += int(numbers[21])
    if pages * _PAGE > limits.memory:
        return f"{limits.memory >> 20} MB of memory"
    return "time" if ticks > limits.seconds * _TICKS else ""
