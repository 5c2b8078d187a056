"""Number of kills: 20 by default; `PUMA_CRASH_ROUNDS=200` for the whole bench, which takes an hour."""

from __future__ import annotations

import os

ROUNDS = int(os.environ.get("PUMA_CRASH_ROUNDS", "20"))


def part(percent: int) -> int:
    """A part of the rounds, at least one."""
    return max(1, ROUNDS * percent // 100)
