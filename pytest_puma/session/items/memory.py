"""Memory of this process."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: New objects before a search for cycles.
_OBJECTS = 1_000_000
#: Linux's numbers of this process, and the file whose 5 lets it count the peak of the memory anew.
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def give_back() -> None:
    """Return freed memory to the operating system.

    glibc keeps it for reuse: hundreds of megabytes after thousands of samples. Other C libraries lack the call.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def restart_peak() -> None:
    """Count the peak of the memory from now on, where the system can."""
    with suppress(OSError):
        _CLEAR.write_text("5", encoding="ascii")


def peak() -> int:
    """Return the largest number of bytes of this process since `restart_peak`; 0 on a system that does not count it.

    Weights that are mapped count, as far as they were read.
    """
    with suppress(OSError):
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let Python search for cycles of objects rarely.

    Thousands of predictions stay until their cell ends. To look through them again and again took a fourth of the time
    of a cell whose answers are read.
    """
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], _OBJECTS) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
