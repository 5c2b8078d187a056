"""Power and sample sizes against simulation and against published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.stats.one_sided import mcnemar_mid_p, mcnemar_worse
from pytest_puma.stats.power import (
    detectable,
    power_of_interval,
    power_of_mcnemar,
    samples_needed,
    samples_to_decide,
)

DRAWS = 20_000


@pytest.mark.parametrize(("n", "changed", "mid"), [(50, 0.15, False), (100, 0.1, True), (200, 0.2, False)])
def test_the_exact_sum_agrees_with_a_simulation(n: int, changed: float, *, mid: bool) -> None:
    random = np.random.default_rng(1)
    shares = [(changed + 0.05) / 2, (changed - 0.05) / 2, 1 - changed]
    counts = random.multinomial(n, shares, DRAWS)
    test = mcnemar_mid_p if mid else mcnemar_worse
    tables, times = np.unique(counts[:, :2], axis=0, return_counts=True)
    rejected = [test(int(worse), int(better)) <= 0.025 for worse, better in tables]
    assert power_of_mcnemar(loss=0.05, changed=changed, n=n, mid=mid) == pytest.approx(
        float(times[rejected].sum()) / DRAWS, abs=0.01
    )


@pytest.mark.parametrize(("changed", "needed"), [(0.06, 186), (0.1, 334), (0.15, 488), (0.2, 657)])
def test_a_loss_of_five_points_needs_this_many_samples(changed: float, needed: int) -> None:
    size = samples_needed(lambda n: power_of_mcnemar(loss=0.05, changed=changed, n=n))
    assert size == pytest.approx(needed, rel=0.04)


@given(st.integers(20, 300), st.floats(0.01, 0.6))
def test_equal_systems_are_rejected_no_more_often_than_the_level(n: int, changed: float) -> None:
    assert power_of_mcnemar(loss=0.0, changed=changed, n=n) <= 0.025
    assert power_of_mcnemar(loss=0.0, changed=changed, n=n, level=0.9, mid=True) <= 0.0503


@given(st.floats(0.001, 1.0))
def test_a_detectable_change_is_detected_in_80_percent(error: float) -> None:
    assert power_of_interval(loss=detectable(error), error=error) == pytest.approx(0.8)


def test_no_number_of_samples_detects_a_loss_of_zero() -> None:
    assert math.isinf(samples_needed(lambda n: power_of_mcnemar(loss=0.0, changed=0.1, n=n)))
    assert math.isinf(samples_to_decide(distance=0, reach=1, n=9))
    assert power_of_interval(loss=0.1, error=0.0) == 1.0


def test_half_the_distance_takes_four_times_the_samples() -> None:
    once, twice = (samples_to_decide(distance=distance, reach=0.1, n=50) for distance in (0.1, 0.05))
    assert twice == pytest.approx(4 * once)
    # An interval that just reaches the limit decides in half of the runs.
    assert samples_to_decide(distance=0.1, reach=0.1, n=50, target=0.5) == pytest.approx(50)
