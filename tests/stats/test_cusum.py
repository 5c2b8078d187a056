"""CUSUM over a series of runs: worked steps, false alarms and power against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from pytest_puma.stats.power import LIMIT, REFERENCE, cusum, cusum_effect, cusum_power

STEPS = 12


def test_only_what_exceeds_the_reference_adds_up() -> None:
    assert cusum(0.0, 0.5) == 0.0
    assert cusum(0.0, float(norm.sf(REFERENCE))) == pytest.approx(0.0, abs=1e-9)
    once = cusum(0.0, 0.01)
    assert once == pytest.approx(norm.isf(0.01) - REFERENCE)
    assert cusum(once, 0.01) == pytest.approx(2 * once)
    assert cusum(once, 0.4) == 0.0


@given(st.floats(0, 10), st.floats(0, 1))
def test_a_sum_is_finite_and_never_negative(total: float, p: float) -> None:
    assert 0.0 <= cusum(total, p) <= total + 8


def test_a_permanent_harmless_change_is_no_drift_in_95_of_100_long_series() -> None:
    p = np.random.default_rng(1).uniform(size=4000)
    failed = 0
    for each in p.tolist():
        total = 0.0
        for _ in range(200):
            total = cusum(total, each)
        failed += total > LIMIT
    assert failed / p.size <= 0.06


def test_series_of_equal_systems_fail_in_at_most_5_percent() -> None:
    assert cusum_power(0.0, steps=STEPS) <= 0.05


def test_power_grows_with_the_effect_and_the_effect_is_its_inverse() -> None:
    powers = [cusum_power(effect, steps=STEPS) for effect in (0.5, 1.5, 2.5, 3.5)]
    assert powers == sorted(powers)
    assert cusum_power(cusum_effect(0.8, steps=STEPS), steps=STEPS) == pytest.approx(0.8, abs=0.01)
