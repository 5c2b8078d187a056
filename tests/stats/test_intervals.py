from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap, chi2
from scipy.stats import t as student

from pytest_puma.stats.intervals import (
    change_interval,
    difference_interval,
    effective_wilson,
    expanded_percentile_interval,
    mean_interval,
    mean_of_independent,
    percentile_interval,
    rare_bounds,
    wilson,
)

SIZES = st.integers(2, 400)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(counts: tuple[int, int], level: float) -> None:
    expected = binomtest(*counts).proportion_ci(level, method="wilson")

    assert wilson(*counts, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_of_a_difference_is_that_of_newcombe() -> None:
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table II, method 10: 56/70 minus 48/80."""
    new, old = ((hits / n, *wilson(hits, n)) for hits, n in ((56, 70), (48, 80)))
    assert difference_interval(new, old) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert all(map(math.isnan, difference_interval(new, (0.5, math.nan, math.nan))))


def test_wilson_reaches_exactly_0_and_1_at_the_ends() -> None:
    assert wilson(0, 7)[0] == 0
    assert wilson(7, 7)[1] == 1


def test_wilson_of_no_observation_is_nan() -> None:
    assert all(map(math.isnan, wilson(0, 0)))


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes of {n}; expected"):
        wilson(successes, n)


def test_the_percentile_interval_cuts_both_tails_and_ignores_nan() -> None:
    values = np.array([math.nan, *range(101), math.nan], dtype=np.float64)

    assert percentile_interval(values, 0.9) == pytest.approx((5, 95))
    assert percentile_interval(values) == pytest.approx((2.5, 97.5))


def test_the_percentile_interval_of_nan_is_nan() -> None:
    assert all(map(math.isnan, percentile_interval(np.full(3, math.nan))))
    assert all(map(math.isnan, percentile_interval(np.empty(0))))


@given(SIZES.flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
def test_a_number_with_the_variance_of_a_proportion_has_its_wilson_interval_with_students_quantile(
    counts: tuple[int, int],
) -> None:
    hits, n = counts
    share = hits / n
    # Two values with the variance of the proportion, as estimated with n - 1 degrees of freedom.
    spread = math.sqrt(share * (1 - share) / n * (n - 1) / n)
    level = 2 * student(n - 1).cdf(1.959964) - 1  # at which Student's quantile equals the normal one of 0.95

    low, high = effective_wilson(share, np.array([share - spread, share + spread]), n, level=level)

    assert (low, high) == pytest.approx(wilson(hits, n), abs=1e-6)


@pytest.mark.parametrize(("value", "end"), [(0.0, 0), (1.0, 1)])
def test_a_number_at_the_end_of_its_scale_is_not_certain(value: float, end: int) -> None:
    interval = effective_wilson(value, np.full(9, value), 50)

    assert interval[end] == value
    assert 0.05 < interval[1] - interval[0] < 0.1


def test_bounds_only_stretch_the_scale() -> None:
    values = np.array([0.4, 0.5, 0.7, 0.8])

    low, high = effective_wilson(0.6, values, 50)

    assert effective_wilson(0.2, 2 * values - 1, 50, bounds=(-1, 1)) == pytest.approx((2 * low - 1, 2 * high - 1))


@given(SIZES, st.integers(0, 9), st.floats(-2, 3))
def test_an_interval_between_bounds_stays_between_them_and_contains_its_value(n: int, seed: int, value: float) -> None:
    """A value beyond its bounds, by rounding or by a wrong metric, is replaced by the nearer bound."""
    values = np.random.default_rng(seed).random(50)

    low, high = effective_wilson(value, values, n)

    assert 0 <= low <= min(max(value, 0), 1) <= high <= 1


def bootstrapped(sample: np.ndarray, *, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The mean and its standard error in each resample."""
    n = len(sample)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=2000)
    away = sample - sample.mean()
    means = weights @ away / n
    return means + sample.mean(), np.sqrt(np.maximum(weights @ away**2 / n - means**2, 0) / (n - 1))


def test_the_interval_of_a_mean_follows_from_worked_quantiles() -> None:
    sample, values, errors = np.linspace(0, 20, 49), np.linspace(8, 12, 101), np.full(101, 2.0)
    error = sample.std(ddof=1) / 7

    # t = (value - 10) / 2 runs from -1 to 1; its quantiles are -0.96 and 0.94, as 0.025 and 0.975 of 101 are counted.
    low, high = mean_interval(sample, values, errors)
    assert (low, high) == pytest.approx((10 - error * 0.96, 10 + error * 0.96), rel=0.01)


def test_the_interval_of_a_mean_reaches_farther_to_the_side_of_the_tail() -> None:
    """As it should for skewed errors; SciPy's BCa interval, the next best, has the same direction."""
    sample = np.random.default_rng(1).exponential(size=60)
    mean = sample.mean()

    low, high = mean_interval(sample, *bootstrapped(sample))
    other = bootstrap((sample,), np.mean, method="BCa", rng=np.random.default_rng(3)).confidence_interval

    assert high - mean > mean - low
    assert other.high - mean > mean - other.low
    assert high > other.high


@pytest.mark.parametrize(
    ("sample", "farthest"),
    [
        # One miss in fifty: at most 5.57 misses, each as large as this one.
        ([0.0] * 49 + [2.0], 5.572 * 2 / 50),
        ([1.0] * 49 + [3.0], 1 + 5.572 * 2 / 50),
        ([3.0] * 49 + [1.0], 3 - 5.572 * 2 / 50),
        ([0.0] * 99 + [3.0], 5.572 * 3 / 100),
        ([0.0] * 98 + [3.0] * 2, 7.225 * 3 / 100),
    ],
)
def test_the_limit_of_rare_observations_is_that_of_a_poisson_count(sample: list[float], farthest: float) -> None:
    """Resamples without any of them have no variance, so the bootstrap's t is infinite."""
    observations = np.array(sample)
    low, high = mean_interval(observations, *bootstrapped(observations))

    far, near = (high, low) if farthest > observations.mean() else (low, high)
    assert far == pytest.approx(farthest, abs=1e-3)
    assert 0 < abs(observations.mean() - near) < abs(observations.mean() - far)


def test_the_limit_of_a_count_is_garwoods() -> None:
    for count in (0, 1, 2, 10):
        sample = np.array([0.0] * (200 - count) + [1.0] * count)
        if count:
            assert rare_bounds(sample)[1] == pytest.approx(chi2(2 * count + 2).ppf(0.975) / 2 / 200)


def test_identical_observations_are_as_certain_as_the_unseen_ones_allow() -> None:
    same = np.full(50, 3.0)
    values, errors = np.full(5, 3.0), np.zeros(5)

    assert mean_interval(same, values, errors) == (3, 3)
    assert mean_interval(same, values, errors, unobserved=2) == pytest.approx(
        (3 - 3.689 * 2 / 50, 3 + 3.689 * 2 / 50), abs=1e-4
    )


def test_expanded_percentiles_are_those_of_t() -> None:
    values = np.random.default_rng(1).normal(size=200_000)
    low, high = expanded_percentile_interval(values, 10)

    assert (-low, high) == pytest.approx((math.sqrt(10 / 9) * student(9).ppf(0.975),) * 2, rel=0.02)


@given(st.integers(20, 400), st.integers(1, 20))
def test_a_change_is_as_uncertain_as_if_one_more_sample_had_changed_in_each_direction(n: int, changed: int) -> None:
    values = np.linspace(-1, 1, 1001)

    low, high = change_interval(0.0, values, n=n, changed=changed)

    wider = student(n - 1).ppf(0.975) / 1.959964 * math.sqrt((changed + 2) / changed)
    assert (low, high) == pytest.approx((-0.95 * wider, 0.95 * wider), rel=1e-5)


def test_the_interval_of_a_mean_of_independent_estimates_covers_it() -> None:
    """Four proportions of 50 with Wilson's intervals, which are not symmetric."""
    random, truths = np.random.default_rng(3), np.array([0.5, 0.7, 0.9, 0.97])
    hits = 0
    for counts in random.binomial(50, truths, (1000, 4)).tolist():
        rows = np.array([(count / 50, *wilson(count, 50)) for count in counts])
        value, low, high = mean_of_independent(rows)
        assert value == pytest.approx(sum(counts) / 200)
        hits += low <= truths.mean() <= high
    assert 0.93 <= hits / 1000 <= 0.975


def test_one_estimate_keeps_its_interval() -> None:
    assert mean_of_independent(np.array([[0.5, 0.3, 0.8]])) == pytest.approx((0.5, 0.3, 0.8))
