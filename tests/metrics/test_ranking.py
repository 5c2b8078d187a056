"""The order of label probabilities, against scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pytest_puma.core import Measure
from pytest_puma.metrics.ranking import ranked
from tests.factories import LABELS, Triage, measured, paired, predictions, scored
from tests.metrics.generated import distributions

Rows = list[tuple[str, dict[str, float]]]
rows = st.lists(st.tuples(st.sampled_from(LABELS), distributions(LABELS)), min_size=2, max_size=40)


def ranks(golds: Sequence[str], probabilities: Sequence[dict[str, float] | None]) -> dict[str, Measure]:
    return dict(measured(Triage(), predictions(golds, golds, probabilities)))


@given(rows)
@settings(deadline=None, max_examples=60)
def test_each_label_and_their_mean_agree_with_scikit_learn(pairs: Rows) -> None:
    golds, probabilities = zip(*pairs, strict=True)
    names = [f"{prefix}{name}" for name in ("roc_auc", "average_precision") for prefix in ("", "per_class.A.")]
    measures = scored(Triage(), predictions(golds, golds, probabilities)).values(names)
    areas, precisions = [], []
    for label in sorted(set(golds)):
        gold, shares = [each == label for each in golds], [row[label] for row in probabilities]
        precisions.append(average_precision_score(gold, shares))
        areas += [] if all(gold) else [roc_auc_score(gold, shares)]
        if label == "A":
            assert measures["per_class.A.average_precision"].value == pytest.approx(precisions[-1])
    assert measures["average_precision"].value == pytest.approx(np.mean(precisions))
    assert measures["roc_auc"].value == pytest.approx(np.mean(areas) if areas else math.nan, nan_ok=True)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=30))
def test_a_resample_has_the_value_of_its_rows(sample: list[tuple[bool, int, int]]) -> None:
    right, quarters, weights = map(np.array, zip(*sample, strict=True))
    repeated = np.repeat(right, weights), np.repeat(quarters / 4, weights)
    counts = weights[None].astype(float)
    area, precision = ranked(right, quarters / 4)(counts)[0]
    if 0 < repeated[0].sum() < len(repeated[0]):
        assert area == pytest.approx(roc_auc_score(*repeated))
        assert precision == pytest.approx(average_precision_score(*repeated))
    else:
        assert math.isnan(area)


def test_two_labels_have_one_area_and_two_precisions() -> None:
    shares = [0.9, 0.8, 0.6, 0.3]
    probabilities = [{"A": share, "B": 1 - share} for share in shares]
    measures = measured(Triage("AB"), predictions("ABAB", "ABAB", probabilities))
    assert measures["roc_auc"].value == measures["per_class.A.roc_auc"].value == pytest.approx(0.75)
    assert measures["per_class.A.average_precision"].value == pytest.approx((1 + 2 / 3) / 2)
    assert measures["per_class.B.average_precision"].value == pytest.approx((1 + 2 / 3) / 2)
    assert (measures["roc_auc"].n, measures["roc_auc"].better) == (4, "high")
    assert measures["roc_auc"].note.startswith("n=2 of the rarest class: the interval is approximate")


def test_rows_without_probabilities_do_not_count() -> None:
    probabilities = [{"A": 0.9, "B": 0.1}, {"A": 0.2, "B": 0.8}, None, None]
    measures = measured(Triage("AB"), predictions("ABAB", "ABAB", probabilities))
    assert (measures["roc_auc"].n, measures["roc_auc"].value) == (2, 1.0)
    assert not {"roc_auc", "average_precision"} & measured(Triage("AB"), predictions("AB", "AB")).keys()


def test_the_interval_contains_the_true_area() -> None:
    """Two normal variables that are one standard deviation apart: the area is 0.76."""
    hits = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        golds = random.permutation(["A"] * 50 + ["B"] * 50)
        shares = 1 / (1 + np.exp(-(random.normal(size=100) + (golds == "A"))))
        probabilities = [{"A": share, "B": 1 - share} for share in shares.tolist()]
        measures = scored(Triage("AB"), predictions(golds.tolist(), golds.tolist(), probabilities)).measures(
            only=["roc_auc"]
        )
        hits += measures["roc_auc"].low <= 0.7602 <= measures["roc_auc"].high
    assert hits >= 53


def test_a_comparison_sees_a_better_order_of_the_same_answers() -> None:
    golds, shares = "AB" * 30, [0.9, 0.6] * 30
    orders = (shares, [0.9 if number % 3 else 0.55 for number in range(60)])
    new, old = (predictions(golds, "A" * 60, [{"A": share, "B": 1 - share} for share in order]) for order in orders)
    change = paired(Triage("AB"), new, old).change("roc_auc")
    assert change is not None
    assert change.new == 1.0
    assert change.old == pytest.approx(roc_auc_score([gold == "A" for gold in golds], orders[1]))
    assert 0 < change.low < change.value
    same = paired(Triage("AB"), new, new).change("roc_auc")
    assert same is not None
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
