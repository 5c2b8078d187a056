"""Number of kills: 7 by default; `PUMA_CRASH_ROUNDS=200` for the whole bench, which takes an hour."""

from __future__ import annotations

import os

ROUNDS = int(os.environ.get("PUMA_CRASH_ROUNDS", "7"))


def part(percent: int) -> int:
    """A part of the rounds, at least one."""
    return max(1, ROUNDS * percent // 100)
