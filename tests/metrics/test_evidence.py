"""Changes near the maximum, alike in nearly all rows, or of means over groups of different sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scipy.stats import binom

from pytest_puma.core import Change
from pytest_puma.stats.intervals import wilson
from tests.factories import Estimation, Triage, paired, predictions
from tests.metrics.test_paired_evidence import FIVES, changed
from tests.metrics.texts import paired_texts, texts

# -- changes near the maximum ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 40, 100])
@pytest.mark.parametrize("away", [0.025, 0.05, 0.1])
def test_a_change_near_the_maximum_is_covered(n: int, away: float) -> None:
    """Every answer was wrong, and a share of `away` still is; intervals of resamples cover it with .65 to .90."""
    counts = range(int(binom.isf(1e-5, n, away)) + 1)
    covered = 0.0
    for wrong in counts:
        change = changed(Triage("AB"), "accuracy", "A" * n, "B" * wrong + "A" * (n - wrong), "B" * n)
        covered += float(binom.pmf(wrong, n, away)) * (change.low <= 1 - away <= change.high)
        assert not change.approximate
    assert 0.92 <= covered <= 0.99


def test_a_rate_that_fell_from_all_to_none_may_be_a_little_above() -> None:
    change = changed(Triage("AB"), "parse_failure_rate", "A" * 60, "A" * 60, [None] * 60)
    assert (change.value, change.low) == (-1, -1)
    assert change.high == pytest.approx(wilson(0, 60)[1] - 1, abs=0.01)


def test_a_score_that_rose_from_the_minimum_to_the_maximum_may_be_a_little_below() -> None:
    golds = "ABCD" * 10
    change = changed(Triage(), "f1_macro", golds, golds, "DABC" * 10)
    assert (change.value, change.high) == (1, 1)
    assert change.low == pytest.approx(wilson(40, 40)[0], abs=0.01)


def test_a_change_of_an_own_metric_that_no_resample_varies_has_no_interval() -> None:
    own = {"always": lambda rows: 0.5 * len(rows) / max(len(rows), 1)}
    change = changed(Triage("AB", metrics=own), "always", "AAAA", "ABBB", "BAAA")
    assert (change.value, change.approximate) == (0, True)
    assert math.isnan(change.low)
    assert math.isnan(change.high)


def test_a_change_of_an_own_metric_is_constant_only_relative_to_its_size() -> None:
    own = {"tiny": lambda rows: 1e-15 * sum(each.answer == "A" for each in rows) / max(len(rows), 1)}
    change = changed(Triage("AB", metrics=own), "tiny", "A" * 40, "A" * 30 + "B" * 10, "A" * 40)
    assert change.low < change.value < change.high < 0


def test_equal_changes_that_differ_by_rounding_are_alike() -> None:
    new, old = (texts([0.1 * row / 7 + more for row in range(40)]) for more in (0.2, 0.1))
    change = paired_texts(new, old).change("closeness")
    assert change is not None
    assert change.thin


@pytest.mark.parametrize(("others", "thin"), [(0, True), (4, True), (5, False)])
def test_a_number_that_changed_alike_in_nearly_all_rows_is_thin(others: int, *, thin: bool) -> None:
    change = changed(Estimation(), "mae", FIVES, ["13"] * others + ["8"] * (60 - others), FIVES)
    assert change.thin == thin


# -- means over groups -------------------------------------------------------------------------------


def of_subjects(sizes: Sequence[int], wrong: Sequence[int], metric: str = "accuracy[mean subject]") -> Change:
    """The change of accuracy after as many answers of each subject became wrong."""
    subjects = [str(subject) for subject, size in enumerate(sizes) for _ in range(size)]
    answers = [place < wrong[group] for group, size in enumerate(sizes) for place in range(size)]
    old = predictions("A" * sum(sizes), "A" * sum(sizes))
    grouped = [replace(each, groups={"subject": subject}) for each, subject in zip(old, subjects, strict=True)]
    new = [replace(each, answer="B" if miss else "A") for each, miss in zip(grouped, answers, strict=True)]
    change = paired(Triage("AB"), new, grouped).change(metric)
    assert change is not None
    return change


def test_the_mean_over_equal_groups_has_the_interval_of_the_whole() -> None:
    mean, whole = (of_subjects([20] * 4, [3, 2, 4, 1], name) for name in ("accuracy[mean subject]", "accuracy"))
    assert (mean.value, mean.low, mean.high) == pytest.approx((whole.value, whole.low, whole.high), abs=1e-12)
    assert not mean.thin


def test_changes_in_a_large_group_are_weak_evidence_for_the_mean_over_groups() -> None:
    """85 rows of one subject weigh as much as 5 of another one, in which no answer happened to change."""
    change = of_subjects([85, 5, 5, 5], [17, 0, 0, 0])
    assert change.value == pytest.approx(-0.05)
    assert change.low < 1.5 * change.value
    assert change.thin
    assert not of_subjects([30, 20, 25, 25], [5, 4, 4, 4]).thin
