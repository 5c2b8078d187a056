"""Declarations of the metrics of each kind of task: which values are better, and their bounds."""

from __future__ import annotations

import pytest

from pytest_puma.core import Scenario
from pytest_puma.metrics.catalogue import Catalogue
from pytest_puma.metrics.table import PredictionTable
from tests.composed import Quiz
from tests.factories import Estimation, OrderedTriage

SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)
COMMON = {
    "parse_failure_rate": ("low", SHARE),
    "truncation_rate": ("low", SHARE),
    "overflow_rate": ("low", SHARE),
    "brier": ("low", None),
    "ece": ("low", None),
    "mce": ("low", None),
    "outside_labels": ("low", None),
    "latency_mean": ("low", None),
    "latency_p50": ("low", None),
    "latency_p95": ("low", None),
    "tokens_per_second": ("high", None),
    "tokens_prompt_mean": ("low", None),
    "tokens_decoded_mean": ("low", None),
    "tokens_cached_mean": ("low", None),
    "joules_mean": ("low", None),
    "joules_per_right": ("low", None),
}
FAILURES = {"parse_failure_rate", "truncation_rate", "overflow_rate"}
TIMES = ("latency_p50", "latency_p95", "tokens_per_second", "joules_per_right")
AGREEMENT = dict.fromkeys(("kappa_quadratic", "spearman", "kendall_tau"), ("high", CORRELATION))
CLASSES = {f"per_class.{label}.{name}": ("high", SHARE) for label in "ABCD" for name in ("precision", "recall", "f1")}
LABELS = ("", *(f"per_class.{label}." for label in "ABCD"))
RANKING = {f"{label}{name}": ("high", SHARE) for label in LABELS for name in ("roc_auc", "average_precision")}
DECLARED = [
    (
        OrderedTriage(),
        dict.fromkeys(("f1_macro", "f1_weighted", "accuracy", "recall_macro", "within_one"), ("high", SHARE))
        | AGREEMENT
        | CLASSES
        | RANKING,
    ),
    (
        Estimation(),
        dict.fromkeys(("mae", "mdae", "rmse", "mae_expected"), ("low", None))
        | {"standardised_accuracy": ("high", None)}
        | AGREEMENT
        | {f"mae_by_bin.{name}": ("low", None) for name in ("1-3", "5-8", "13-21", "34+", "other")},
    ),
    (Quiz(), {"accuracy": ("high", SHARE)}),
]


@pytest.mark.parametrize(("scenario", "own"), DECLARED, ids=lambda value: getattr(value, "name", ""))
def test_each_metric_declares_its_direction_and_bounds(
    scenario: Scenario, own: dict[str, tuple[str, tuple[float, float] | None]]
) -> None:
    statistics = Catalogue(scenario, PredictionTable.of(scenario, ())).all()
    assert {each.name: (each.better, each.bounds) for each in statistics} == own | COMMON


def test_metrics_that_need_probabilities_or_tokens_are_optional() -> None:
    statistics = Catalogue(OrderedTriage(), PredictionTable.of(OrderedTriage(), ())).all()
    assert {each.name for each in statistics if each.optional} == {
        "brier",
        "ece",
        "mce",
        "outside_labels",
        "tokens_per_second",
        "joules_mean",
        "joules_per_right",
        *RANKING,
    }
    assert {each.name for each in statistics if each.interval is None} == {"ece", "mce"}


@pytest.mark.parametrize(
    ("scenario", "tests", "unsteady", "rebuilt"),
    [
        (
            OrderedTriage(),
            {"mcnemar": {"accuracy", *FAILURES}},
            {*AGREEMENT, *RANKING, *TIMES, "ece", "mce"},
            {name: name for name in AGREEMENT},
        ),
        (
            Estimation(),
            {"mcnemar": FAILURES, "permutation": {"mae"}},
            {*AGREEMENT, *TIMES, "ece", "mce", "mdae", "rmse", "standardised_accuracy"},
            {name: name for name in AGREEMENT}
            | {"mae": "mean", "mdae": "median", "rmse": "root_mean_square", "standardised_accuracy": "standardised"}
            | {f"mae_by_bin.{name}": "mean" for name in ("1-3", "5-8", "13-21", "34+", "other")},
        ),
    ],
    ids=["labels", "numbers"],
)
def test_each_metric_declares_its_paired_test_and_whether_interim_looks_are_valid(
    scenario: Scenario, tests: dict[str, set[str]], unsteady: set[str], rebuilt: dict[str, str]
) -> None:
    statistics = Catalogue(scenario, PredictionTable.of(scenario, ())).all()
    for test in ("mcnemar", "permutation"):
        assert {each.name for each in statistics if each.comparison.test == test} == tests.get(test, set())
    assert {each.name for each in statistics if each.interval is None or not each.interval.sequential} == unsteady
    assert {each.name: each.comparison.rebuild for each in statistics if each.comparison.rebuild} == rebuilt
