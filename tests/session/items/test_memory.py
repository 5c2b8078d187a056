"""Freed memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Small pieces, every hundredth of which stays: the heap cannot shrink at its end.
FREED = """
import os
from pytest_puma.session.items.memory import give_back

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

pieces = [bytes(2000) for _ in range(100_000)]
kept = pieces[::100]
pieces.clear()
before = resident()
give_back()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's call")
def test_memory_that_was_freed_between_what_stays_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    assert float(done.stdout) > 100
