"""A process gives up its rights for good: it can open a few libraries to read, and nothing else.

Four layers of Linux, each of which is enough for its part: Landlock decides which files are opened, seccomp which
system calls exist, capabilities are dropped, and namespaces, where the system grants them, have no network. They bind
root, too. The interpreter's own modules and the libraries of the system stay readable.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.sandbox import seccomp

#: The same numbers on all machines.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
#: To write, and to make and remove files and folders, but no devices, pipes and sockets.
_CHANGE = _WRITE_FILE | sum(1 << bit for bit in (4, 5, 7, 8, 12, 13, 14))
#: The rights on files that each version of Landlock knows: how many bits.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
#: From these versions on: to bind and connect TCP; abstract sockets and signals.
_WITH_NETWORK, _WITH_SCOPES = 4, 6
_NO_NEW_PRIVILEGES, _DEATH_SIGNAL, _SECCOMP, _FILTER = 38, 1, 22, 2
_SIGKILL = 9
#: Of users, processes' shared memory, host names, the network.
_NAMESPACES = 0x10000000 | 0x08000000 | 0x04000000 | 0x40000000
_CAPABILITIES_VERSION = 0x20080522
#: Libraries of the system.
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo")
#: The same for compilers: their programs and headers; random numbers, and the settings of Java.
TOOLS = ("/bin", "/usr/bin", "/usr/libexec", "/usr/local/bin", "/usr/local/lib", "/usr/local/libexec", *_LIBRARIES)
_OF_TOOLS = ("/usr/include", "/usr/local/include", "/usr/share", "/dev/urandom", "/dev/random")


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a compiler, or a program that it compiled, has beside the system: its folder, and folders of tools.

    `changes`: it may write in its folder. `starts`: it may start processes. `threads`: how many its user may have.
    """

    folder: str
    tools: Sequence[str]
    changes: bool
    starts: bool
    threads: int


def landlock_version() -> int:
    """Return the version of Landlock in the kernel; 0 without it, or where seccomp has no filter for the machine."""
    if sys.platform != "linux" or not seccomp.is_known(os.uname().machine):
        return 0
    version = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))
    return max(0, int(version))


def readable() -> list[str]:
    """Return the folders and files that a program needs to import the standard library."""
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")} | {sysconfig.get_config_var("LIBDIR")}
    return [path for path in (*sorted(filter(None, own)), *_LIBRARIES) if Path(path).exists()]


def end_with_parent(parent: int) -> None:
    """Let the kernel end this process when its `parent` ends; end it at once if that has already happened."""
    if sys.platform == "linux":
        _libc().prctl(_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def confine(version: int, packages: Sequence[str] = (), workplace: Workplace | None = None) -> None:
    """Give up all rights that a program does not need.

    `version`: of Landlock, 0 for none; `packages`: folders that the program may read, too; `workplace`: of a compiler
    or of what it compiled. Raises an `OSError` if the kernel refuses one of the steps, but for namespaces, which some
    systems do not grant.
    """
    libc = _libc()
    libc.unshare(_NAMESPACES)
    if workplace is not None:
        # Behind the new namespace, which counts anew: a limit before it would hold for all processes of the user.
        resource.setrlimit(resource.RLIMIT_NPROC, (workplace.threads, workplace.threads))
    _check(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    if version:
        rules = _rules(packages) if workplace is None else _rules_of_compilers(workplace)
        _restrict_files(libc, version, rules)
    _check(libc.capset(struct.pack("Ii", _CAPABILITIES_VERSION, 0), bytes(24)), "capset")
    instructions = _filter(workplace)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HP", len(instructions) // 8, ctypes.addressof(buffer))
    _check(libc.prctl(_SECCOMP, _FILTER, program, 0, 0), "seccomp")


def _filter(workplace: Workplace | None) -> bytes:
    tools, starts = workplace is not None, workplace is not None and workplace.starts
    return seccomp.filter_of(os.uname().machine, os.getpid(), tools=tools, starts=starts)


def _restrict_files(libc: ctypes.CDLL, version: int, rules: Iterator[tuple[str, int]]) -> None:
    handled = (1 << _RIGHTS.get(version, max(_RIGHTS.values()))) - 1
    network = 0b11 if version >= _WITH_NETWORK else 0
    scopes = 0b11 if version >= _WITH_SCOPES else 0
    attributes = struct.pack("QQQ", handled, network, scopes)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    _check(ruleset, "landlock_create_ruleset")
    for path, rights in rules:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights & handled, folder)
        _check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, ctypes.c_uint(0)), f"landlock_add_rule {path}")
        os.close(folder)
    _check(libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint(0)), "landlock_restrict_self")
    os.close(ruleset)


def _rules(packages: Sequence[str]) -> Iterator[tuple[str, int]]:
    for path in (*readable(), *packages):
        yield path, _READ if Path(path).is_dir() else _READ_FILE
    yield os.devnull, _READ_FILE | _WRITE_FILE


def _rules_of_compilers(workplace: Workplace) -> Iterator[tuple[str, int]]:
    for path in (*TOOLS, *workplace.tools, *_OF_TOOLS, *map(str, Path("/etc").glob("java-*"))):
        if Path(path).exists():
            runs = _EXECUTE if path in {*TOOLS, *workplace.tools} else 0
            yield path, (_READ if Path(path).is_dir() else _READ_FILE) | runs
    yield workplace.folder, _READ | _EXECUTE | (_CHANGE if workplace.changes else 0)
    yield os.devnull, _READ_FILE | _WRITE_FILE


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(status: int, call: str) -> None:
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
