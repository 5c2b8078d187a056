"""A run made up for the tests of the reports."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pytest_puma.core import (
    AnswerChanges,
    Change,
    Flip,
    Gap,
    Gate,
    Measure,
    Outcome,
    Robustness,
    Run,
    Shift,
    Usage,
    Verdict,
)

ACCURACY = Measure(metric="accuracy", value=0.66, low=0.52, high=0.77, n=50)
ECE = Measure(metric="ece", value=math.nan, low=math.nan, high=math.nan, n=0, note="nothing to measure")
PARSE_FAILURES = Measure(metric="parse_failure_rate", value=0.0, low=0.0, high=0.07, n=50)
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
        "measures": {measure.metric: measure for measure in (ACCURACY, ECE, PARSE_FAILURES)},
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


CHANGE = Change(metric="accuracy", old=0.66, new=0.46, value=-0.2, low=-0.4, high=0.1, n=50, worse=15, better=5)
ROBUSTNESS = Robustness(
    cell="triage-zero_shot@m",
    scenario="triage",
    strategy="zero_shot",
    model="m",
    metric="accuracy",
    value=0.66,
    shifts=(
        Shift(
            perturbation="case_upper",
            change=CHANGE,
            answer_changes=AnswerChanges(
                rate=Measure(metric="flip_rate", value=0.5, low=0.3, high=0.7, n=50),
                fixed=5,
                broken=15,
                still_wrong=5,
            ),
            test="mcnemar",
            p=0.02,
            adjusted=0.04,
        ),
        Shift(
            perturbation="label_order",
            change=replace(CHANGE, new=0.66, value=0.0, low=0.0, high=0.0, worse=0, better=0),
            answer_changes=AnswerChanges(
                rate=Measure(metric="flip_rate", value=0.0, low=0.0, high=0.07, n=50),
                fixed=0,
                broken=0,
                still_wrong=0,
            ),
            test="mcnemar",
            p=1.0,
            adjusted=1.0,
        ),
    ),
    worst="case_upper",
    worst_value=0.46,
    worst_corrected=0.47,
    always_right=Measure(metric="always_right", value=0.4, low=0.3, high=0.5, n=50),
    gaps=(Gap(axis="gender", old="woman", new="man", change=CHANGE),),
)
