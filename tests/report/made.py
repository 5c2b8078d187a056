"""A run made up for the tests of the reports."""

from __future__ import annotations

import math
from typing import Any

from pytest_puma.core import Flip, Gate, Measure, Outcome, Run, Usage, Verdict

ACCURACY = Measure(metric="accuracy", value=0.66, low=0.52, high=0.77, n=50)
ECE = Measure(metric="ece", value=math.nan, low=math.nan, high=math.nan, n=0, note="nothing to measure")
UNREAD = Measure(metric="parse_failure_rate", value=0.0, low=0.0, high=0.07, n=50)
KEPT = Verdict(gate=Gate(metric="accuracy", op=">=", limit=0.5), status="PASS", reason="it keeps >= 0.5", fails=False)
MISSED = Verdict(gate=Gate(metric="accuracy", op=">=", limit=0.9), status="FAIL", reason="it is under 0.9", fails=True)
UNSURE = Verdict(
    gate=Gate(metric="accuracy", op=">=", limit=0, other="baseline"),
    status="INCONCLUSIVE",
    reason="it may miss >= baseline",
    fails=False,
)


def outcome(cell: str = "triage-zero_shot@m", **said: Any) -> Outcome:
    fields: dict[str, Any] = {
        "cell": cell,
        "scenario": "triage",
        "strategy": "zero_shot",
        "model": "m",
        "metrics": ("accuracy",),
        "signature": {"data": None},
        "predictions": (),
        "measures": {measure.metric: measure for measure in (ACCURACY, ECE, UNREAD)},
        "usage": Usage(prompt_tokens=1234),
        "seconds": 98.7,
    }
    return Outcome(**fields | said)


def run(*outcomes: Outcome, **said: Any) -> Run:
    fields: dict[str, Any] = {"id": "r", "started": "2026-01-01T00:00:00+00:00", "environment": {}}
    return Run(outcomes=outcomes, **fields | said)


def flips(worse: int, better: int = 0) -> tuple[Flip, ...]:
    turned = [False] * worse + [True] * better
    return tuple(
        Flip(sample_id=f"s{number}", gold="A", old="B" if up else "A", new="A" if up else None, better=up)
        for number, up in reversed(list(enumerate(turned)))
    )
