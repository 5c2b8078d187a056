from __future__ import annotations

import math
from statistics import fmean, variance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import foldnorm
from sklearn.metrics import brier_score_loss

from pytest_puma.core import Prediction
from pytest_puma.metrics import calibration_bins
from tests.factories import LABELS, Estimation, Triage, measured, predictions, scored
from tests.metrics.generated import distributions
from tests.transcripts import replied

Rows = list[tuple[str, dict[str, float]]]
rows = st.lists(st.tuples(st.sampled_from(LABELS), distributions(LABELS)), min_size=1, max_size=40)


@given(rows)
@settings(deadline=None)
def test_brier_agrees_with_scikit_learn(pairs: Rows) -> None:
    golds, probabilities = zip(*pairs, strict=True)
    measures = scored(Triage(), predictions(golds, golds, probabilities)).values(["brier"])
    shares = [[row[label] for label in LABELS] for row in probabilities]

    expected = brier_score_loss(golds, shares, labels=LABELS, scale_by_half=False)
    assert measures["brier"].value == pytest.approx(expected)


@given(rows)
@settings(deadline=None)
def test_calibration_errors_follow_their_definition(pairs: Rows) -> None:
    golds, probabilities = zip(*pairs, strict=True)
    measures = scored(Triage(), predictions(golds, golds, probabilities)).measures(only=["ece", "mce"])
    bins: dict[int, list[tuple[float, float]]] = {}
    for gold, shares in pairs:
        # The answer is the gold, which counts where it ties for the top.
        top = max(shares, key=lambda label: (shares[label], label == gold))
        upper_ends = np.linspace(0, 1, 11)[1:]
        bins.setdefault(int(np.argmax(shares[top] <= upper_ends)), []).append(
            (shares[top], shares[top] - (top == gold))
        )

    assert measures["ece"].value == pytest.approx(max(0, sum(map(debiased, bins.values())) / len(pairs)), abs=1e-7)
    gaps = (abs(sum(gap for _, gap in rows)) / len(rows) for rows in bins.values())
    assert measures["mce"].value == pytest.approx(max(gaps))
    assert math.isnan(measures["ece"].low)
    assert math.isnan(measures["mce"].high)


@given(rows)
@settings(deadline=None)
def test_bins_are_those_of_the_calibration_errors(pairs: Rows) -> None:
    golds, probabilities = zip(*pairs, strict=True)
    answered = scored(Triage(), predictions(["A", *golds], ["A", *golds], [None, *probabilities]))
    bins = calibration_bins(answered.table)

    assert sum(each.n for each in bins) == len(pairs)
    assert all(each.low < each.confidence <= each.high + 1e-9 for each in bins)
    assert answered.value("mce") == pytest.approx(max(abs(each.confidence - each.accuracy) for each in bins))


def test_without_probabilities_there_are_no_bins() -> None:
    assert calibration_bins(scored(Triage(), predictions("AB", "AA")).table) == ()


def debiased(rows: list[tuple[float, float]]) -> float:
    """The summed gap of a bin, less what a normal error of it adds on average."""
    gap = abs(sum(each for _, each in rows))
    alone = rows[0][0] * (1 - rows[0][0])
    error = math.sqrt(len(rows) * variance([each for _, each in rows]) if len(rows) > 1 else alone)
    return gap if error < 1e-9 else gap - (foldnorm.mean(gap / error, scale=error) - gap)


def calibrated(random: np.random.Generator, n: int) -> list[Prediction]:
    """Each label is right as often as its probability says."""
    shares = random.dirichlet(np.ones(4), n)
    golds = [LABELS[random.choice(4, p=row)] for row in shares]
    probabilities = [dict(zip(LABELS, row, strict=True)) for row in shares.tolist()]
    return predictions(golds, [LABELS[place] for place in shares.argmax(axis=1)], probabilities)


def test_calibrated_models_hardly_fail_a_gate_on_the_calibration_error() -> None:
    """The error with what chance adds is 0.13 on average at 50 samples, and over 0.1 for three of four."""
    values = [measured_only(calibrated(np.random.default_rng(seed), 50), "ece") for seed in range(200)]
    many = [measured_only(calibrated(np.random.default_rng(seed), 400), "ece") for seed in range(50)]

    assert fmean(value > 0.1 for value in values) < 0.4
    assert fmean(value > 0.1 for value in many) <= 0.02


def test_a_calibration_error_that_is_there_is_measured() -> None:
    """Twice as sure as right: true for half of the samples, confident of all."""
    probabilities = [{"A": 0.95, "B": 0.05}] * 400
    measures = measured(Triage("AB"), predictions("AB" * 200, "A" * 400, probabilities))

    assert measures["ece"].value == pytest.approx(0.45, abs=0.01)


def measured_only(result: list[Prediction], metric: str) -> float:
    return scored(Triage(), result).value(metric)


def test_one_miss_of_fifty_certain_hits_has_a_brier_score_with_an_end() -> None:
    sure = [{"A": 1.0, "B": 0.0}] * 50
    measure = measured(Triage("AB"), predictions("A" * 49 + "B", "A" * 50, sure))["brier"]

    assert measure.value == pytest.approx(0.04)
    assert 0 <= measure.low < 0.04
    assert 0.1 < measure.high < 0.25
    assert measure.note == "one sample is 100% of all that differs: the interval is approximate"


def test_honest_confidence_has_no_calibration_error() -> None:
    shares = {"A": 0.75, "B": 0.25}
    measures = measured(Triage("AB"), predictions("AAAB", "AAAA", [shares] * 4))

    assert measures["ece"].value == measures["mce"].value == 0
    assert measures["brier"].value == pytest.approx((3 * 2 * 0.25**2 + 2 * 0.75**2) / 4)


def test_of_labels_that_tie_the_one_that_was_answered_counts() -> None:
    torn = {"A": 0.4, "B": 0.4, "C": 0.2}
    measures = measured(Triage("ABC"), predictions("BBBB", "BBBB", [torn] * 4))

    assert measures["ece"].value == pytest.approx(0.6), "all four were right"
    other = measured(Triage("ABC"), predictions("AAAA", "CCCC", [torn] * 4))
    assert other["ece"].value == pytest.approx(0.6), "the answer is none of the two: the first of them"


def test_the_worst_bin_is_not_diluted_by_the_others() -> None:
    sure, torn = {"A": 1.0, "B": 0.0}, {"A": 0.5, "B": 0.5}
    measures = measured(Triage("AB"), predictions("AAAAAAAB", "AAAAAAAA", [sure] * 6 + [torn] * 2))

    assert measures["mce"].value == 0
    worse = measured(Triage("AB"), predictions("AAAAAABB", "AAAAAAAA", [sure] * 6 + [torn] * 2))
    assert worse["mce"].value == 0.5
    assert worse["ece"].value == pytest.approx(0.5 * 2 / 8)


def test_only_predictions_with_probabilities_count() -> None:
    measures = measured(Triage("AB"), predictions("AAB", ["A", None, None], [{"A": 1.0, "B": 0.0}, None, None]))

    assert {name: measures[name].n for name in ("ece", "mce", "brier")} == {"ece": 1, "mce": 1, "brier": 1}
    assert measures["ece"].value == measures["mce"].value == measures["brier"].value == 0


def test_what_lies_outside_the_labels_is_the_rest_of_their_probability() -> None:
    scored: list[dict[str, Any]] = [
        {"finish": "scored", "logprobs": (math.log(0.5), math.log(0.25))},
        {"finish": "scored", "logprobs": (-99.0, -99.0)},
    ]
    others: list[dict[str, Any]] = [
        {"finish": "overflow"},
        {"finish": "stop", "logprobs": (-1.0, -1.0)},
        {"finish": "scored", "logprobs": (-1.0,)},
    ]
    given = predictions("AABBB", "AABBB")
    rows = [replied(each, **more) for each, more in zip(given, [*scored, *others], strict=True)]
    measure = measured(Triage("AB"), rows)["outside_labels"]

    assert measure.value == pytest.approx((0.25 + 1) / 2)
    assert measure.n == 2
    assert "outside_labels" not in measured(Triage("AB"), given)


def test_without_probabilities_there_is_no_calibration() -> None:
    assert not {"ece", "mce", "brier"} & measured(Triage("AB"), predictions("AB", "AB")).keys()


def test_a_gold_between_the_points_is_never_the_most_probable_one() -> None:
    shares = dict.fromkeys(["1", "2"], 0.5)
    measures = measured(Estimation(["1", "2"]), predictions(["1.0", "1.5"], ["1", "1"], [shares] * 2))

    assert measures["ece"].value == measures["mce"].value == 0
    assert measures["brier"].value == pytest.approx((0.5 + 0.5) / 2)


@pytest.mark.parametrize(("n", "note"), [(199, "n under 200: the value is rough"), (200, "")])
def test_few_predictions_make_a_rough_calibration_error(n: int, note: str) -> None:
    shares = [dict.fromkeys(LABELS, 0.25)] * n
    measures = measured(Triage(), predictions(["A"] * n, ["A"] * n, shares))
    assert (measures["ece"].note, measures["mce"].note) == (note, note)
