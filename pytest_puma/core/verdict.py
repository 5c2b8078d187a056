"""The verdict of a gate, and a project's policy for verdicts that are neither kept nor missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core.change import Change
from pytest_puma.core.gate import Doubt, Gate
from pytest_puma.core.measure import Measure
from pytest_puma.core.power import Power

Status: TypeAlias = Literal["PASS", "FAIL", "INCONCLUSIVE", "NO BASELINE", "NOT RUN"]
#: What becomes of a gate that finds no baseline.
Missing: TypeAlias = Literal["warn", "fail"]
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of a measure, and why, in one sentence with the numbers; whether that fails the test.

    Of a gate on a change, `power` is what it can see; `level` is its rate of false alarms where nothing became worse.
    `p` is the p-value of a gate that is a test.
    """

    gate: Gate
    status: Status
    reason: str
    fails: bool
    measure: Measure | None = None
    change: Change | None = None
    power: Power | None = None
    level: float | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a project makes of verdicts that are neither kept nor missed.

    `accepts`: what this run measures becomes the baseline, so that nothing is held against the old one.
    """

    inconclusive: Doubt = "warn"
    missing_baseline: Missing = "warn"
    accepts: bool = False
