"""`no_drift` as a verdict: the sum beside its limit, and what a series could have caught."""

from __future__ import annotations

import pytest

from pytest_puma.core import Decline, Drift, Gate, Policy, Power
from pytest_puma.core.change import Spread
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_drift, power_of
from tests.factories import change

GATE = parse_gate("tickets: no_drift")
SEEN = Spread(n=200, moved=0.1)
LARGE = Decline(n=200, worse=14, better=6, p=0.04, loss=0.01, spread=SEEN)
SMALL = Decline(
    n=30, worse=2, better=1, p=0.4, alone="this run did not score the labels", spread=Spread(n=30, moved=0.1)
)
POINTS = Decline(
    n=100,
    worse=30,
    better=30,
    p=0.5,
    graded=True,
    spread=Spread(n=100, moved=1.0, size=4.0, unseen=4.0, width=0.0),
)


def of_drift(decline: Decline, old: float = 0.0) -> Power | None:
    return power_of(GATE, decline, change("mae", old=old))


@pytest.mark.parametrize(
    ("gate", "total", "decline", "status", "fails"),
    [
        (GATE, 1.41, LARGE, "FAIL", True),
        (GATE, 1.4, LARGE, "PASS", False),
        (GATE, 0.0, SMALL, "INCONCLUSIVE", False),
        (parse_gate("no_drift !fail"), 0.0, SMALL, "INCONCLUSIVE", True),
        (parse_gate("no_drift !point"), 0.0, SMALL, "PASS", False),
        (GATE, 1.41, SMALL, "FAIL", True),
    ],
)
def test_a_series_fails_above_its_limit_and_passes_where_it_could_have_failed(
    gate: Gate, total: float, decline: Decline, status: str, *, fails: bool
) -> None:
    verdict = judge_drift(gate, Drift(total=total, renewals=1), decline, None, "the anchor main@1", Policy())
    assert (verdict.status, verdict.fails) == (status, fails)
    assert f"(sum {total:.3g}, limit 1.4) since the anchor main@1, 1 renewal later" in verdict.reason
    assert verdict.power is not None
    assert ("too few samples: a loss of 12 points over 12 renewals is caught in" in verdict.reason) == (
        status == "INCONCLUSIVE"
    )


def test_its_power_grows_with_samples_and_label_probabilities() -> None:
    alone_so = Decline(n=200, worse=14, better=6, p=0.04, alone="so", spread=SEEN)
    result = [of_drift(each) for each in (SMALL, LARGE, alone_so)]
    assert all(result)
    small, scored, alone = (each.caught for each in result if each is not None)
    assert small < 0.4 < alone < scored


def test_of_numbers_a_share_of_the_old_error_is_lost() -> None:
    result = of_drift(POINTS, 2.0)
    assert result is not None
    assert (result.relative, result.loss) == (True, 0.24)
    assert result.lost == "a loss of 24 % over 12 renewals"
    assert of_drift(POINTS) is None
