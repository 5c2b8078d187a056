"""The numbers of the system calls, against the headers of the kernel where they are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.sandbox import seccomp

#: The younger machine has the numbers of all younger machines.
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
OLDER_NAMES = {"newfstatat": "fstatat"}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is not installed")
    lines = HEADERS[machine].read_text(encoding="utf-8")
    known = {name: int(number) for name, number in re.findall(r"__NR(?:3264)?_(\w+)\s+(\d+)", lines)}
    column = list(HEADERS).index(machine)
    for call in f"{seccomp._ALLOWED};{seccomp._OF_TOOLS};{seccomp._STARTING}".split(";"):  # noqa: SLF001
        name, *numbers = call.split()
        found = known.get(name, known.get(OLDER_NAMES.get(name, "")))
        assert numbers[column] == ("-" if found is None else str(found)), name
    special = {"clone": seccomp._CLONE, "clone3": seccomp._CLONE3, "kill": seccomp._KILL, "tgkill": seccomp._TGKILL}  # noqa: SLF001
    special |= {"fcntl": seccomp._FCNTL, "prlimit64": seccomp._PRLIMIT, "ioctl": seccomp._IOCTL}  # noqa: SLF001
    for name, pair in special.items():
        assert pair[column] == known[name]
