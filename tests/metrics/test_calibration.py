from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from tests.metrics.cells import LABELS, Estimation, Triage, distributions, measured, predictions

Rows = list[tuple[str, dict[str, float]]]
rows = st.lists(st.tuples(st.sampled_from(LABELS), distributions(LABELS)), min_size=1, max_size=40)


@given(rows)
@settings(deadline=None)
def test_brier_agrees_with_scikit_learn(pairs: Rows) -> None:
    golds, known = zip(*pairs, strict=True)
    found = measured(Triage(), predictions(golds, golds, known))
    shares = [[row[label] for label in LABELS] for row in known]

    expected = brier_score_loss(golds, shares, labels=LABELS, scale_by_half=False)
    assert found["brier"].value == pytest.approx(expected)


@given(rows)
@settings(deadline=None)
def test_calibration_errors_follow_their_definition(pairs: Rows) -> None:
    golds, known = zip(*pairs, strict=True)
    found = measured(Triage(), predictions(golds, golds, known))
    bins: dict[int, list[float]] = {}
    for gold, shares in pairs:
        # The answer is the gold, which counts where it ties for the top.
        top = max(shares, key=lambda label: (shares[label], label == gold))
        upper_ends = np.linspace(0, 1, 11)[1:]
        bins.setdefault(int(np.argmax(shares[top] <= upper_ends)), []).append(shares[top] - (top == gold))

    assert found["ece"].value == pytest.approx(sum(abs(sum(gaps)) for gaps in bins.values()) / len(pairs))
    assert found["mce"].value == pytest.approx(max(abs(sum(gaps)) / len(gaps) for gaps in bins.values()))
    assert found["ece"].low <= found["ece"].value <= found["ece"].high


def test_honest_confidence_has_no_calibration_error() -> None:
    shares = {"A": 0.75, "B": 0.25}
    found = measured(Triage("AB"), predictions("AAAB", "AAAA", [shares] * 4))

    assert found["ece"].value == found["mce"].value == 0
    assert found["brier"].value == pytest.approx((3 * 2 * 0.25**2 + 2 * 0.75**2) / 4)


def test_of_labels_that_tie_the_one_that_was_answered_counts() -> None:
    torn = {"A": 0.4, "B": 0.4, "C": 0.2}
    found = measured(Triage("ABC"), predictions("BBBB", "BBBB", [torn] * 4))

    assert found["ece"].value == pytest.approx(0.6), "all four were right"
    other = measured(Triage("ABC"), predictions("AAAA", "CCCC", [torn] * 4))
    assert other["ece"].value == pytest.approx(0.6), "the answer is none of the two: the first of them"


def test_the_worst_bin_is_not_diluted_by_the_others() -> None:
    sure, torn = {"A": 1.0, "B": 0.0}, {"A": 0.5, "B": 0.5}
    found = measured(Triage("AB"), predictions("AAAAAAAB", "AAAAAAAA", [sure] * 6 + [torn] * 2))

    assert found["mce"].value == 0
    worse = measured(Triage("AB"), predictions("AAAAAABB", "AAAAAAAA", [sure] * 6 + [torn] * 2))
    assert worse["mce"].value == 0.5
    assert worse["ece"].value == pytest.approx(0.5 * 2 / 8)


def test_only_predictions_with_probabilities_count() -> None:
    found = measured(Triage("AB"), predictions("AAB", ["A", None, None], [{"A": 1.0, "B": 0.0}, None, None]))

    assert {name: found[name].n for name in ("ece", "mce", "brier")} == {"ece": 1, "mce": 1, "brier": 1}
    assert found["ece"].value == found["mce"].value == found["brier"].value == 0


def test_an_interval_holds_its_value_even_where_resampling_is_biased() -> None:
    rights = {0.6: "AAABB", 0.75: "AAAB", 0.8: "AAAAB"}
    rows = [(gold, {"A": top, "B": 1 - top}) for top, golds in rights.items() for gold in golds * 10]
    golds, known = zip(*rows, strict=True)
    found = measured(Triage("AB"), predictions(golds, golds, known))["ece"]

    # Hardly any resample is as well calibrated as the sample.
    assert found.low == found.value == pytest.approx(0)
    assert found.high > 0.05


def test_what_lies_outside_the_labels_is_the_rest_of_their_probability() -> None:
    scored = [
        {"finish": "scored", "logprobs": (math.log(0.5), math.log(0.25))},
        {"finish": "scored", "logprobs": (-99.0, -99.0)},
    ]
    others = [
        {"finish": "overflow"},
        {"finish": "stop", "logprobs": (-1.0, -1.0)},
        {"finish": "scored", "logprobs": (-1.0,)},
    ]
    given = predictions("AABBB", "AABBB")
    changes: list[dict[str, Any]] = [*scored, *others]
    rows = [replace(each, **more) for each, more in zip(given, changes, strict=True)]
    found = measured(Triage("AB"), rows)["outside_labels"]

    assert found.value == pytest.approx((0.25 + 1) / 2)
    assert found.n == 2
    assert "outside_labels" not in measured(Triage("AB"), given)


def test_without_probabilities_there_is_no_calibration() -> None:
    assert not {"ece", "mce", "brier"} & measured(Triage("AB"), predictions("AB", "AB")).keys()


def test_a_gold_between_the_points_is_never_the_most_probable_one() -> None:
    shares = dict.fromkeys(["1", "2"], 0.5)
    found = measured(Estimation(["1", "2"]), predictions(["1.0", "1.5"], ["1", "1"], [shares] * 2))

    assert found["ece"].value == found["mce"].value == 0
    assert found["brier"].value == pytest.approx((0.5 + 0.5) / 2)
