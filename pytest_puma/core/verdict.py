"""The verdict of a gate, and the policy of a project for gates that are neither kept nor missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core.change import Change
from pytest_puma.core.gate import Doubt, Gate
from pytest_puma.core.measure import Measure
from pytest_puma.core.power import Power

Status: TypeAlias = Literal["PASS", "FAIL", "INCONCLUSIVE", "NO BASELINE", "NEW BASELINE", "NOT RUN"]
#: Effect of a missing baseline on a gate that needs one.
Missing: TypeAlias = Literal["warn", "fail"]
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision of a gate: its `status`, the `reason` as a sentence with the numbers, and whether the test `fails`.

    `power` and `level` belong to a gate on a change: its power, and its false alarm rate if nothing became worse. `p`
    is the p-value of a gate that is a test.
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

    @property
    def is_judged(self) -> bool:
        """Whether there was something to judge."""
        return self.status in {"PASS", "FAIL", "INCONCLUSIVE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Policy of a project for gates that are neither kept nor missed.

    `accepts`: the results of this run become the baseline, so that no gate compares them with the old one.
    """

    inconclusive: Doubt = "warn"
    missing_baseline: Missing = "warn"
    accepts: bool = False
