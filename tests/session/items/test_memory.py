"""Freed memory goes back to the system; the peak of the memory is counted anew on request."""

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


#: A hundred megabytes, which are freed before the count begins again, and fifty after it.
PEAK = """
from pytest_puma.session.items.memory import peak, restart_peak

def used(size):
    return len(bytes(b"x") * size)

used(100_000_000)
before = peak()
restart_peak()
idle = peak()
used(50_000_000)
print(before - idle, peak() - idle)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts it")
def test_the_peak_is_that_since_its_restart_and_keeps_what_was_freed() -> None:
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    before, after = (int(text) / 1e6 for text in done.stdout.split())
    assert before == pytest.approx(100, abs=20)
    assert after == pytest.approx(50, abs=10)
