from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, permutation_test, ttest_1samp, wilcoxon

from pytest_puma.stats.intervals import change_interval
from pytest_puma.stats.resampling import resampling_weights
from pytest_puma.stats.significance import change_p, cliffs_delta, holm, mcnemar, rank_biserial, sign_flips, signed_rank

DIFFERENCES = st.lists(st.integers(-5, 5), min_size=2, max_size=40).map(lambda each: np.array(each, dtype=np.float64))


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    # 2 * P(X <= 2), X of 8 coins; all of 5 on one side; nothing changed.
    [(6, 2, 2 * 37 / 256), (5, 0, 2 / 32), (0, 0, 1.0), (3, 3, 1.0)],
)
def test_mcnemar_counts_coins(worse: int, better: int, p: float) -> None:
    assert mcnemar(worse, better) == pytest.approx(p)
    assert mcnemar(better, worse) == pytest.approx(p)


@given(DIFFERENCES)
def test_sign_flips_of_right_and_wrong_answers_are_mcnemars_test(differences: np.ndarray) -> None:
    changes = np.sign(differences)

    p = sign_flips(changes, seed=1)

    assert p == pytest.approx(mcnemar(int((changes > 0).sum()), int((changes < 0).sum())), abs=0.03)


@given(DIFFERENCES.filter(lambda each: each.any()))
def test_signed_ranks_agree_with_scipy(differences: np.ndarray) -> None:
    assert signed_rank(differences) == wilcoxon(differences, zero_method="pratt", method="approx").pvalue


@given(DIFFERENCES.map(lambda each: each[:12]).filter(lambda each: each.any()))
def test_sign_flips_agree_with_scipy(differences: np.ndarray) -> None:
    # All sign patterns: with random ones, both sides would be off by chance.
    expected = permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=2**12)

    assert sign_flips(differences, seed=2) == pytest.approx(expected.pvalue, abs=0.025)


def test_no_difference_is_no_evidence() -> None:
    nothing = np.zeros(9)

    assert signed_rank(nothing) == sign_flips(nothing, seed=1) == change_p(0.0, nothing, n=9, changed=0) == 1
    assert rank_biserial(nothing) == cliffs_delta(nothing, nothing) == 0


@given(st.floats(-1, 1), st.integers(0, 99), st.integers(6, 30))
def test_the_p_value_of_a_change_is_under_a_twentieth_if_its_interval_excludes_0(
    value: float, seed: int, changed: int
) -> None:
    values = value + np.random.default_rng(seed).normal(size=2000) / 3

    low, high = change_interval(value, values, n=50, changed=changed)

    p = change_p(value, values, n=50, changed=changed)
    assert p < 0.052 if low > 0 or high < 0 else p > 0.048


def test_few_changed_samples_never_have_a_smaller_p_value_than_the_exact_test() -> None:
    certain = np.full(2000, -0.1)

    assert change_p(-0.1, certain, n=20, changed=5) == mcnemar(5, 0)
    assert change_p(-0.1, certain, n=20, changed=6) == mcnemar(6, 0)


def test_a_p_value_may_be_smaller_than_a_count_of_resamples_allows() -> None:
    """Otherwise no contrast of a macro-F1 could be significant in a table of more than 50 rows."""
    differences = np.random.default_rng(1).normal(0.5, 0.5, size=40)
    weights = resampling_weights([()] * 40, seed=1)
    value, values = float(differences.mean()), weights @ differences / 40

    p = change_p(value, values, n=40, changed=40)

    assert p == pytest.approx(ttest_1samp(differences, 0).pvalue, rel=0.9)
    assert min(holm([p, *[1.0] * 59])) < 0.001
    assert change_p(-value, -values, n=40, changed=40) == p
    assert change_p(0.5, np.full(2000, 0.5), n=40, changed=40) == pytest.approx(2 / 2001), "no spread, no tail"


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        # The smallest times 4, the next times 3, never below the one before, never above 1.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.6], [1.0, 1.0]),
    ],
)
def test_holm(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_only_raises(p_values: list[float]) -> None:
    adjusted = holm(p_values)

    assert all(one <= other <= 1 for one, other in zip(p_values, adjusted, strict=True))
    pairs = product(range(len(p_values)), repeat=2)
    assert all(adjusted[a] <= adjusted[b] for a, b in pairs if p_values[a] <= p_values[b])


@given(DIFFERENCES.filter(lambda each: each.any()))
def test_the_rank_biserial_correlation_is_wilcoxons_statistic_on_a_scale(differences: np.ndarray) -> None:
    changes = differences[differences != 0]
    greater = wilcoxon(changes, alternative="greater", method="approx").statistic  # the sum of the positive ranks
    whole = changes.size * (changes.size + 1) / 2

    assert rank_biserial(differences) == pytest.approx(2 * greater / whole - 1)


@given(DIFFERENCES, DIFFERENCES)
def test_cliffs_delta_is_mann_whitneys_u_on_a_scale(new: np.ndarray, old: np.ndarray) -> None:
    u = mannwhitneyu(new, old).statistic

    assert cliffs_delta(new, old) == pytest.approx(2 * u / (new.size * old.size) - 1)
