"""Power and sample sizes against simulation and against published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.stats.intervals import widening
from pytest_puma.stats.power import (
    Rule,
    detectable,
    power_of_changes,
    power_of_interval,
    samples_needed,
    samples_to_decide,
    smallest_loss,
)
from pytest_puma.stats.significance import mcnemar_mid_p, mcnemar_worse

DRAWS = 20_000


@pytest.mark.parametrize(
    ("n", "changed", "rule"), [(50, 0.15, "exact"), (100, 0.1, "mid_p"), (200, 0.2, "exact"), (12, 1.0, "mid_p")]
)
def test_the_exact_sum_agrees_with_a_simulation(n: int, changed: float, rule: Rule) -> None:
    counts = _counts(n, changed)
    test = {"mid_p": mcnemar_mid_p, "exact": mcnemar_worse}[rule]
    tables, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    rejected = [test(int(worse), int(better)) <= 0.025 for worse, better in tables]
    assert power_of_changes(n, loss=0.05, changed=changed, rules=(rule,)) == pytest.approx(
        float(times[rejected].sum()) / DRAWS, abs=0.01
    )


@pytest.mark.parametrize("allowed", [0.0, 0.02, -0.05])
def test_the_power_of_an_interval_agrees_with_a_simulation(allowed: float) -> None:
    """Normal percentiles in place of those of resamples."""
    n = 100
    counts = _counts(n, 0.2)
    tables, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    rejected = []
    for worse, better in tables.tolist():
        loss, changed = (worse - better) / n, worse + better
        reach = 1.96 * math.sqrt((changed / n - loss**2) / n)
        low = loss - (reach * widening(n=n, changed=changed) if changed else 0.0)
        rejected.append((min(low, 0.0) if changed < 6 else low) > allowed)
    assert power_of_changes(n, loss=0.05, changed=0.2, allowed=allowed) == pytest.approx(
        float(times[rejected].sum()) / DRAWS, abs=0.01
    )


def _counts(n: int, changed: float) -> np.ndarray:
    shares = [(changed + 0.05) / 2, (changed - 0.05) / 2, 1 - changed]
    return np.random.default_rng(1).multinomial(n, shares, DRAWS)


@pytest.mark.parametrize("rules", [("exact",), ("mid_p",), ("interval",)])
def test_the_sum_over_many_changes_is_close_to_the_normal_approximation(rules: tuple[Rule, ...]) -> None:
    few, many = (power_of_changes(n, loss=0.02, changed=0.2, rules=rules) for n in (2000, 2001))
    assert few == pytest.approx(many, abs=0.021)


@pytest.mark.parametrize(("changed", "needed"), [(0.06, 186), (0.1, 334), (0.15, 488), (0.2, 657)])
def test_a_loss_of_five_points_needs_this_many_samples(changed: float, needed: int) -> None:
    size = samples_needed(lambda n: power_of_changes(n, loss=0.05, changed=changed, rules=("exact",)))
    assert size == pytest.approx(needed, rel=0.04)


@given(st.integers(20, 300), st.floats(0.01, 0.6))
def test_equal_systems_are_rejected_no_more_often_than_the_level(n: int, changed: float) -> None:
    assert power_of_changes(n, loss=0.0, changed=changed, rules=("exact",)) <= 0.025
    assert power_of_changes(n, loss=0.0, changed=changed, level=0.9, rules=("mid_p",)) <= 0.0503


@given(st.floats(20, 300))
def test_a_number_of_samples_between_two_whole_numbers_has_a_power_between_theirs(n: float) -> None:
    low, power, high = (power_of_changes(size, loss=0.05, changed=0.1) for size in (math.floor(n), n, math.ceil(n)))
    assert min(low, high) <= power <= max(low, high)


def test_the_smallest_loss_has_the_power_and_a_smaller_one_has_not() -> None:
    def power(loss: float) -> float:
        return power_of_changes(100, loss=loss, changed=0.12, rules=("exact",))

    loss = smallest_loss(power, above=0.0, most=1.0)
    assert loss is not None
    assert power(loss - 0.002) < 0.8 <= power(loss)
    # Five answers cannot be significant, whatever becomes of them.
    assert smallest_loss(lambda loss: power_of_changes(5, loss=loss, changed=loss), above=0.0, most=1.0) is None


@given(st.floats(0.001, 1.0))
def test_a_detectable_change_is_detected_in_80_percent(error: float) -> None:
    assert power_of_interval(loss=detectable(error), error=error) == pytest.approx(0.8)


def test_no_number_of_samples_detects_a_loss_of_zero() -> None:
    assert math.isinf(samples_needed(lambda n: power_of_changes(n, loss=0.0, changed=0.1)))
    assert math.isinf(samples_to_decide(distance=0, reach=1, n=9))
    assert power_of_interval(loss=0.1, error=0.0) == 1.0


def test_half_the_distance_takes_four_times_the_samples() -> None:
    once, twice = (samples_to_decide(distance=distance, reach=0.1, n=50) for distance in (0.1, 0.05))
    assert twice == pytest.approx(4 * once)
    # An interval that just reaches the limit decides in half of the runs.
    assert samples_to_decide(distance=0.1, reach=0.1, n=50, target=0.5) == pytest.approx(50)


def test_the_power_is_that_of_published_examples() -> None:
    """The example of G*Power's manual: odds ratio 0.25, 40 % discordant pairs, one-sided at 5 %, 50 pairs."""
    power, size = (power_of_changes(50, loss=loss, changed=0.4, level=0.9, rules=("exact",)) for loss in (0.24, 0.0))
    assert (power, size) == pytest.approx((0.8393, 0.03258), abs=1e-4)
