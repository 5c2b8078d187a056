"""Memory of this process."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: New objects before a search for cycles.
_OBJECTS = 1_000_000


def give_back() -> None:
    """Return freed memory to the operating system.

    glibc keeps it for reuse: hundreds of megabytes after thousands of samples. Other C libraries lack the call.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


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
