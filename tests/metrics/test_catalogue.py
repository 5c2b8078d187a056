"""The names of all metrics of a scenario."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import Scenario, SettingsError
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.metrics import declaration, is_metric, metric_names, names_of_kind
from pytest_puma.metrics.catalogue import Catalogue
from pytest_puma.metrics.table import PredictionTable
from tests.composed import Quiz
from tests.factories import Estimation, Triage
from tests.metrics.texts import Letters, closeness


def test_the_names_of_a_classification() -> None:
    assert metric_names(Triage("AB", metrics={"mine": len}, primary="accuracy")) == (
        "accuracy",
        "f1_macro",
        "f1_weighted",
        "recall_macro",
        "per_class.A.precision",
        "per_class.A.recall",
        "per_class.A.f1",
        "per_class.B.precision",
        "per_class.B.recall",
        "per_class.B.f1",
        "roc_auc",
        "per_class.A.roc_auc",
        "per_class.B.roc_auc",
        "average_precision",
        "per_class.A.average_precision",
        "per_class.B.average_precision",
        "mine",
        "parse_failure_rate",
        "truncation_rate",
        "overflow_rate",
        "brier",
        "ece",
        "mce",
        "outside_labels",
        "latency_mean",
        "latency_p50",
        "latency_p95",
        "tokens_per_second",
        "tokens_prompt_mean",
        "tokens_decoded_mean",
        "tokens_cached_mean",
        "joules_mean",
        "joules_per_right",
    )


def test_the_names_of_a_regression() -> None:
    assert metric_names(Estimation())[:13] == (
        "mae",
        "mdae",
        "rmse",
        "standardised_accuracy",
        "kappa_quadratic",
        "spearman",
        "kendall_tau",
        "mae_expected",
        "mae_by_bin.1-3",
        "mae_by_bin.5-8",
        "mae_by_bin.13-21",
        "mae_by_bin.34+",
        "mae_by_bin.other",
    )


@pytest.mark.parametrize(
    "scenario", [Triage(["Won't fix", "<1h", "a.b", "N/A"], metrics={"x.y+z-1": len}), Estimation()]
)
def test_a_gate_can_name_every_metric(scenario: Scenario) -> None:
    for name in metric_names(scenario):
        assert parse_gate(f"{name} >= 0.5").metric == name
        assert is_metric(scenario, name)
    assert not is_metric(scenario, "f1_marco")


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Triage(metrics={"accuracy": len}), "triage: two metrics are named 'accuracy'"),
        (Triage(["A", "A"]), "triage: two metrics are named 'per_class.A.precision'"),
        (Triage(metrics={"my metric": len}), "triage: metrics\\(\\) names 'my metric'; expected letters"),
        (Triage(primary="f1"), "triage: primary_metric\\(\\) is 'f1'; expected one of f1_macro, f1_weighted, accuracy"),
    ],
)
def test_unusable_names_are_refused(scenario: Scenario, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        metric_names(scenario)


def test_a_statistic_is_made_when_it_is_first_asked_for() -> None:
    asked = []

    class Asked(Triage):
        def metrics(self) -> dict[str, Any]:
            asked.append(self.name)
            return {"mine": len}

    scenario = Asked("AB", primary="accuracy")
    catalogue = Catalogue(scenario, PredictionTable.of(scenario, ()))
    accuracy = catalogue.get("accuracy")
    assert accuracy is not None
    assert catalogue.names(only=["accuracy", "f1_macro"]) == ["accuracy", "f1_macro"]
    assert not asked
    assert catalogue.get("mine") is not None
    assert catalogue.get("nothing") is None
    assert catalogue.names() == [each.name for each in catalogue.all()] == list(metric_names(scenario))
    assert catalogue.all()[0] is accuracy


def test_the_names_of_choices_and_of_texts() -> None:
    of_every_cell = metric_names(Triage("AB"))[-16:]
    assert metric_names(Quiz()) == ("accuracy", *of_every_cell)
    assert metric_names(Letters(), [closeness()]) == ("closeness", *of_every_cell)


def test_names_of_a_kind_are_those_without_any_declaration() -> None:
    declared = Triage("AB", metrics={"mine": len}, primary="mine")
    assert names_of_kind(declared) == {*metric_names(declared)} - {"mine"}
    assert "mae" in names_of_kind(Estimation())
    assert "accuracy" not in names_of_kind(Letters())


def test_a_declaration_is_found_by_the_name_of_the_metric_or_of_a_slice() -> None:
    declarations = [declaration(Estimation(), name) for name in ("mae", "mae[subject=law]", "nothing")]
    assert [each and (each.name, each.better) for each in declarations] == [("mae", "low"), ("mae", "low"), None]
