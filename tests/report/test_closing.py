"""The closing lines state bounds that hold: an upper one is rounded up, a lower one down."""

from __future__ import annotations

import pytest

from pytest_puma.core.power import Power, bounded_above
from pytest_puma.report.gates import closing
from tests.factories import outcome, run, verdict


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.0123, "1.3 %"),
        (0.025, "2.5 %"),
        (0.07, "7 %"),
        (0.221, "23 %"),
        (0.225, "23 %"),
        (0.29, "29 %"),
        (0.999, "100 %"),
        (1.0, "100 %"),
    ],
)
def test_an_upper_bound_has_two_digits_and_is_rounded_up(share: float, text: str) -> None:
    assert bounded_above(share) == text


def test_the_bound_of_false_alarms_is_not_below_the_sum_of_the_levels() -> None:
    gates = tuple(verdict(f"accuracy >= baseline - 0.0{n}", level=0.025) for n in range(1, 10))
    (sentence,) = closing(run(outcome(verdicts=gates)))
    assert sentence.endswith("still FAIL in about 20 % of runs, and in at most 23 %")


@pytest.mark.parametrize(("caught", "text"), [(0.239, "at least 23 %"), (0.29, "at least 29 %")])
def test_a_power_that_is_a_lower_bound_is_rounded_down(caught: float, text: str) -> None:
    power = Power(loss=0.05, relative=False, caught=caught, n=50, needed=300, at_least=True)
    assert f"is caught in {text} of runs at n=50; 80 % needs at most 300 samples" in str(power)
