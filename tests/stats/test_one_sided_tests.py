"""One-sided tests against SciPy and against worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, permutation_test, ttest_1samp

from pytest_puma.metrics.calibration import BETAS, refit, skill
from pytest_puma.stats.significance import mcnemar_mid_p, mcnemar_worse, mean_above, sign_flips_above, stouffer


@pytest.mark.parametrize(("worse", "better"), [(0, 0), (4, 0), (5, 0), (7, 1), (3, 9), (20, 12)])
def test_mcnemar_is_the_binomial_test(worse: int, better: int) -> None:
    exact = float(binomtest(worse, worse + better, alternative="greater").pvalue) if worse + better else 1.0
    assert mcnemar_worse(worse, better) == pytest.approx(exact)
    strictly = float(binomtest(worse + 1, worse + better, alternative="greater").pvalue) if better else 0.0
    assert mcnemar_mid_p(worse, better) == pytest.approx((exact + strictly) / 2)


def test_a_mean_is_compared_with_a_limit_by_students_test() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 40)
    assert mean_above(values, 0.05) == pytest.approx(ttest_1samp(values, 0.05, alternative="greater").pvalue)
    assert (mean_above(np.full(9, 0.2), 0.1), mean_above(np.full(9, 0.1), 0.1)) == (0.0, 1.0)


def test_sign_flips_agree_with_scipy() -> None:
    values = np.array([3.0, 1, 1, -1, 0, 5, 2, -2, 4, 1])
    expected = permutation_test(
        (values,), np.mean, permutation_type="samples", vectorized=True, alternative="greater", n_resamples=np.inf
    )
    assert sign_flips_above(values, seed=0) == pytest.approx(expected.pvalue, abs=0.01)
    assert (sign_flips_above(np.zeros(4), seed=0), sign_flips_above(np.zeros(4), seed=0, mid=True)) == (1.0, 0.5)


@pytest.mark.parametrize(("worse", "better"), [(5, 1), (12, 4), (3, 9)])
def test_the_mid_p_of_signs_is_that_of_mcnemar(worse: int, better: int) -> None:
    values = np.array([1.0] * worse + [-1.0] * better + [0.0] * 10)
    assert sign_flips_above(values, seed=0, mid=True) == pytest.approx(mcnemar_mid_p(worse, better), abs=0.01)


def test_two_fully_correlated_tests_count_as_one() -> None:
    assert stouffer(0.03, 0.03, correlation=1.0) == pytest.approx(0.03)
    assert stouffer(0.0, 1.0, correlation=0.7) == pytest.approx(0.5, abs=0.01)
    assert stouffer(0.03, 0.03, correlation=0.0) == pytest.approx(norm.sf(norm.isf(0.03) * 2**0.5))


def test_a_change_of_temperature_alone_leaves_no_difference() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(0, 2, (200, 4))
    gold = np.array([random.choice(4, p=row) for row in np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)])
    flat, sharp = (np.exp(beta * scores) / np.exp(beta * scores).sum(axis=1, keepdims=True) for beta in (0.6, 1.7))
    assert np.abs(refit(flat, gold).losses.mean() - refit(sharp, gold).losses.mean()) < 0.001
    assert not refit(flat, gold).at_edge
    assert skill(refit(flat, gold).losses, gold) > 0.2
    # Useless probabilities are best flattened completely, and perfect ones have full skill.
    noise = refit(np.exp(random.normal(0, 2, (200, 4))), gold)
    assert (noise.beta, noise.at_edge) == (BETAS[0], True)
    assert skill(refit(np.eye(4)[gold] + 1e-12, gold).losses, gold) > 0.99
