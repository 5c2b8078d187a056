"""The metric classes of eval-framework, by their names."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

import pytest_puma.compat.eval_framework as adapter
from pytest_puma.compat.eval_framework.metrics import CLASSES, scores_of
from pytest_puma.core import Metric, SettingsError, metric
from pytest_puma.judges import JUDGED
from pytest_puma.metrics.library import LIBRARY
from tests.compat.tasks import CapitalChoices, Capitals


@metric
def length(sample: Any, prediction: Any) -> float:
    return float(len(prediction.text) < 9)


class F1:
    """A class of another package with this name."""


def test_a_class_is_known_by_its_name_however_it_is_given() -> None:
    for entry in (adapter.F1, F1, "F1"):  # type: ignore[attr-defined] # found by name
        assert scores_of("Task", [entry]) == ("f1_words",)


def test_a_class_with_several_keys_has_a_metric_for_each() -> None:
    assert scores_of("Task", ["JsonFormat", "AccuracyCompletion", "CheckJsonFormat"]) == (
        "json.only",
        "json.valid",
        "json.schema",
        "json.equal",
        "exact_match",
    )


def test_a_metric_of_our_own_stands_beside_classes() -> None:
    assert scores_of("Task", [length, "F1"]) == (length, "f1_words")
    assert isinstance(length, Metric)


def test_the_metric_that_every_choice_scenario_has_is_not_listed_again() -> None:
    assert CapitalChoices().scores == ("accuracy_chars",)
    assert CapitalChoices().primary_metric() == "accuracy"
    assert Capitals().scores == ("exact_match",)


def test_an_unknown_class_is_an_error_with_the_nearest_name() -> None:
    task = type("Typo", (Capitals,), {"METRICS": [SimpleNamespace(__name__="AcuracyCompletion")]})
    with pytest.raises(
        SettingsError, match=r"Typo: METRICS has AcuracyCompletion; .* did you mean 'AccuracyCompletion'"
    ):
        task()


def test_each_judge_is_a_rubric() -> None:
    judges = [metrics[-1] for name, metrics in CLASSES.items() if "Judge" in name]
    assert len(judges) == 12
    assert all(name.startswith("judge.") for name in judges)


def test_importing_an_unknown_name_says_which_is_meant() -> None:
    with pytest.raises(ImportError, match=r"no 'Bleu' in pytest_puma\.compat.eval_framework; .*there are: Accuracy"):
        exec("from pytest_puma.compat.eval_framework import Bleu")  # noqa: S102 - our own text
    with pytest.raises(ImportError, match="did you mean 'BaseTask'"):
        exec("from pytest_puma.compat.eval_framework import BaseTsk")  # noqa: S102 - our own text
    assert not hasattr(adapter, "_hidden")


def test_each_class_can_be_imported() -> None:
    module = importlib.import_module("pytest_puma.compat.eval_framework")
    assert {name: getattr(module, name) for name in CLASSES} == {name: name for name in CLASSES}


def test_each_class_leads_to_metrics_of_the_library_or_of_judges() -> None:
    names = {name for metrics in CLASSES.values() for name in metrics} - {"accuracy"}
    assert sorted(names - set(LIBRARY) - set(JUDGED)) == []
