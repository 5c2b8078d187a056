"""Disks that are full, and folders that cannot be written, as the operating system makes them."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

#: Code that does in a running process what `obedient` does for a command: it drops CAP_DAC_OVERRIDE and
#: CAP_DAC_READ_SEARCH. A process that starts with its imports done can only drop them itself.
OBEDIENT = """
import ctypes

def obey():
    library = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert library.capget(header, sets) == 0
    for place in range(3):
        sets[place] &= ~0b110
    assert library.capset(header, sets) == 0

obey()
"""


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file of this process can have more bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A folder on a disk of its own with this many kilobytes; skips the test where nobody may mount one."""
    folder.mkdir(exist_ok=True)
    size = f"size={kilobytes}k,mode=0700"
    _mount(["mount", "-t", "tmpfs", "-o", size, "puma-test", str(folder)])
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S603, S607 - ours


@contextmanager
def mounted(source: Path, target: Path) -> Iterator[None]:
    """A single file that is mounted over another one, as containers get them."""
    _mount(["mount", "--bind", str(source), str(target)])
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(target)], check=True)  # noqa: S603, S607 - ours


def _mount(command: Sequence[str]) -> None:
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("needs the right to mount a disk")


def obedient(*command: str) -> list[str]:
    """The command, obedient to the modes of files, as commands of the superuser usually are not."""
    if os.geteuid():
        return list(command)
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]


def texts_of(folder: Path) -> dict[str, str]:
    """The text of each file in a folder, by name."""
    return {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir()}
