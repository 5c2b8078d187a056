"""Number of threads that may compute. One too many is very slow: llama.cpp's threads spin while they wait."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores() -> int:
    """The physical cores that processes of this host may use together, at least one."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed, _quota(physical)))


def _quota(default: int) -> int:
    """CPU quota of a container, from Linux control groups (version 2): `max 100000` or `150000 100000`."""
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return default
