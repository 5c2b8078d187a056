"""Rounds of a fuzzer: one with a fixed seed; `PUMA_FUZZ_SECONDS=1800` goes on with other seeds for that long."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count
from typing import TypeVar

from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


def fuzz(inputs: SearchStrategy[T], check: Callable[[T], None], *, examples: int) -> None:
    """Call `check` with as many inputs a round; it raises for a finding, which is reduced to a small one."""
    until = time.monotonic() + float(os.environ.get("PUMA_FUZZ_SECONDS", "0"))
    for number in count():
        _round(inputs, check, examples, number)
        if time.monotonic() >= until:
            return


def _round(inputs: SearchStrategy[T], check: Callable[[T], None], examples: int, number: int) -> None:
    @seed(number)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def check_all(each: T) -> None:
        check(each)

    check_all()
