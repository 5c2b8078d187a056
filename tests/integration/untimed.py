"""The numbers of a run that any run of the same cells has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: What depends on the clock, on the place or on the run.
_TIMED = ("latency_mean", "latency_p50", "latency_p95", "tokens_per_second")
_UNEQUAL = (*_TIMED, "seconds", "kept", "throughput", "speed", "peak_memory", "run", "usage")


def untimed(report: Path) -> list[dict[str, Any]]:
    """The outcomes of a JSON report without what differs between any two runs."""
    outcomes: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["outcomes"]
    for outcome in outcomes:
        outcome["measures"] = {name: value for name, value in outcome["measures"].items() if name not in _UNEQUAL}
        for key in [key for key in outcome if key in _UNEQUAL]:
            del outcome[key]
    return outcomes
