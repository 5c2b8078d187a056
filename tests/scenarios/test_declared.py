"""Wrong declarations of a scenario: one sentence that names the class, the attribute, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from pytest_puma import FileScenario, Scenario, metric
from pytest_puma.core import PumaError, Sample, SettingsError
from pytest_puma.datasets.fields import hidden_fields
from pytest_puma.datasets.sampling import draw
from pytest_puma.scenarios.declared import check_class, check_declared
from tests.composed import QUESTION, Capitals, Quiz, written
from tests.factories import sample
from tests.scenarios.custom import Custom, frame


class Garden(FileScenario):
    """A classification without a fault."""

    name = "garden"
    task_type = "classification"
    data = "garden.csv"
    text_fields = ("title",)
    label_column = "kind"

    def valid_labels(self) -> list[str]:
        return ["Pest", "Care"]

    def parse_response(self, response: str) -> str | None:
        return response


def garden(**declared: Any) -> Scenario:
    """The scenario with these attributes in place of its own."""
    kind: Callable[[], Scenario] = type("Garden", (Garden,), declared)
    return kind()


def returns(value: object) -> Callable[[Scenario], object]:
    return lambda self: value  # noqa: ARG005 - a method


def over(sample: Sample, prediction: object) -> float:
    del sample, prediction
    return 0.0


def share(predictions: Sequence[object]) -> float:
    return float(len(predictions))


#: What is declared, and the sentence about it.
LABELS = {
    "numbers": ([1, 2, 3], "valid_labels() is [1, 2, 3]; expected a list of texts: write ['1', '2', '3']"),
    "None": (None, "valid_labels() is None; expected a list of texts"),
    "a text": ("Pest", "is the text 'Pest', which Python reads letter by letter; expected a list: write ['Pest']"),
    "a set": ({"Pest"}, "is {'Pest'}; expected a list of texts: the order of a set changes from run to run"),
    "no label": ([], "valid_labels() is []; expected all answers there are"),
    "an empty label": (["Pest", ""], "valid_labels() has ''; expected texts that are not empty"),
    "a label twice": (["Pest", "Care", "Pest"], "valid_labels() has 'Pest' twice; expected each label once"),
}
VALUES = {
    "numbers": ([1, 2], "valid_labels() is [1, 2]; expected a list of texts: write ['1', '2']"),
    "None": (None, "valid_labels() is None; expected a list of texts"),
    "words": (["1", "two"], "valid_labels() has 'two'; expected a finite number as text"),
    "a number twice": (["1", "2", "1.0"], "valid_labels() has '1.0' twice; expected each label once"),
}
DECLARED = {
    "ordered": ("yes", "ordered is 'yes'; expected True or False"),
    "balanced": (1, "balanced is 1; expected True or False"),
    "text_fields": (
        "title",
        "text_fields is the text 'title', which Python reads letter by letter; expected a tuple: ",
    ),
    "unit_columns": ("id", "unit_columns is the text 'id', which Python"),
    "group_columns": ({"bed"}, "group_columns is {'bed'}; expected a tuple of texts"),
    "strategies": ("zero_shot", "strategies is the text 'zero_shot', which Python"),
    "protected": ([5], "protected is [5]; expected a tuple of texts"),
    "data_tags": ("item", "data_tags is the text 'item', which Python"),
    "stop": ("es", "stop is the text 'es', which Python reads letter by letter; expected a tuple: write ('es',)"),
    "scores": ("exact_match", "scores is the text 'exact_match', which Python"),
    "columns": ({"title": "name"}, "columns['title'] is the text 'name', which Python"),
    "hidden_fields": (returns("source"), "hidden_fields() is the text 'source', which Python"),
    "label_column": (None, "label_column is None; expected the name of the column of the gold answer"),
    "metrics": (returns(None), "metrics() is None; expected a dictionary of names and functions"),
    "parse_response": (lambda self: None, "found parse_response(self); expected parse_response(self, response)"),  # noqa: ARG005
    "sample": (lambda self, n: None, "found sample(self, n); expected sample(self, n, seed)"),  # noqa: ARG005
    "valid_labels": (["Pest"], "valid_labels is ['Pest']; expected a method: def valid_labels(self)"),
}
METRICS = {
    "a set": ({"over"}, "metrics() is {'over'}; expected a dictionary of names and functions"),
    "no function": ({"over": 5}, "metrics(): 'over' is 5; expected a function of a list of predictions: def over("),
    "a number for a name": ({5: share}, "metrics() has 5; expected a text as the name of a metric"),
    "of single predictions": (
        {"over": over},
        "metrics(): 'over' is a function of (sample, prediction); expected a function of a list of predictions: def ",
    ),
    "a metric of single predictions": (
        {"over": metric(over)},
        "metrics(): 'over' is a function of (sample, prediction)",
    ),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_a_list_of_different_texts(case: str) -> None:
    labels, sentence = LABELS[case]
    with pytest.raises(SettingsError) as raised:
        check_declared(garden(valid_labels=returns(labels)))
    assert str(raised.value).startswith("Garden: valid_labels() ")
    assert sentence in str(raised.value)


@pytest.mark.parametrize("case", VALUES)
def test_values_of_a_regression_are_texts_of_different_numbers(case: str) -> None:
    values, sentence = VALUES[case]
    with pytest.raises(SettingsError) as raised:
        check_declared(garden(task_type="regression", valid_labels=returns(values)))
    assert str(raised.value) == f"Garden: {sentence}"


@pytest.mark.parametrize("name", DECLARED)
def test_a_wrong_attribute_or_method_is_named_with_its_value(name: str) -> None:
    value, sentence = DECLARED[name]
    with pytest.raises(SettingsError) as raised:
        check_declared(garden(**{name: value}))
    assert str(raised.value).startswith(f"Garden: {sentence}")


@pytest.mark.parametrize("case", METRICS)
def test_own_metrics_are_functions_of_a_list(case: str) -> None:
    metrics, sentence = METRICS[case]
    with pytest.raises(SettingsError) as raised:
        check_declared(garden(metrics=returns(metrics)))
    assert str(raised.value).startswith(f"Garden: {sentence}")


def test_a_score_is_a_function_of_a_sample_and_its_prediction() -> None:
    with pytest.raises(
        SettingsError, match=r"Garden: scores: 'share' is a function of \(predictions\); expected a func"
    ):
        check_declared(garden(scores=(metric(share),)))


def test_a_method_that_fails_is_named() -> None:
    def fails(self: Scenario) -> list[str]:
        del self
        raise KeyError("kinds")

    with pytest.raises(SettingsError, match=r"Garden: valid_labels\(\) failed with KeyError\('kinds'\)"):
        check_declared(garden(valid_labels=fails))


def test_a_right_declaration_is_no_error() -> None:
    check_declared(garden(ordered=True, stop=["\n"], hidden_fields=returns(["kind", "source"]), scores=(metric(over),)))
    check_declared(garden(task_type="regression", valid_labels=returns([])))
    check_declared(garden(metrics=returns({"share": share, "cells": metric(per="cell")(share)})))
    for scenario in (Quiz(), Capitals()):
        check_class(type(scenario))
        check_declared(scenario)


def test_a_class_lacks_no_method_and_needs_no_argument() -> None:
    class Bare(Scenario):
        name = "bare"
        task_type = "classification"

        def valid_labels(self) -> list[str]:
            return ["a"]

    expected = (
        r"Bare: no method gold_label\(self, instance\), parse_response\(self, response\), sample\(self, n, seed\); "
    )
    with pytest.raises(SettingsError, match=expected):
        check_class(cast("type[Any]", Bare))
    with pytest.raises(
        SettingsError, match=r"Custom: its constructor needs \(frame, pool, declared\); expected an inst"
    ):
        check_class(Custom)


def test_a_hidden_field_that_no_row_has_is_an_error_with_the_nearest_name() -> None:
    rows = [sample("a", fields={"source": "web"}), sample("b", fields={"note": ""})]
    scenario = Custom(frame(), hidden_fields=lambda: ("sourc",))
    expected = (
        "custom: hidden_fields.. has 'sourc', which no row has; did you mean 'source'. the rows have: source, note"
    )
    with pytest.raises(SettingsError, match=expected):
        hidden_fields(scenario, rows)
    scenario = Custom(frame(), hidden_fields=lambda: ("note", "source"), gold_label=lambda _: "yes")
    assert hidden_fields(scenario, rows) == {"note", "source"}


def test_a_hidden_column_may_be_absent_if_the_file_may_lack_it() -> None:
    rows = [sample(fields={"kind": "Pest"}, gold="Pest")]
    with pytest.raises(SettingsError, match=r"the rows have: kind; if files may lack it: columns = {'source': \(\)}"):
        hidden_fields(garden(hidden_fields=returns(("source",))), rows)
    scenario = garden(columns={"source": ()}, hidden_fields=returns(("source",)))
    assert hidden_fields(scenario, rows) == {"source", "kind"}


def test_a_text_in_place_of_several_is_refused_in_rows_too(tmp_path: Any) -> None:
    class Lone(Quiz):
        def choices(self, item: dict[str, Any]) -> str:
            del item
            return "desk"

    class Begun(Capitals):
        def turns(self, item: dict[str, Any]) -> str:
            del item
            return "Q: Capital?"

    with pytest.raises(PumaError, match=r"turns\(\) returned the text 'Q: Capital\?'; expected a list of messages: \["):
        Begun().question_text({}, ())
    data = written(tmp_path / "rows.jsonl", [QUESTION])
    for scenario, sentence in (
        (Lone(data), "its choices are the text 'desk'; expected at least two texts, in a list"),
        (Custom(frame(), references=lambda _: "yes"), "references() returned the text 'yes'; expected a list"),
    ):
        with pytest.raises(PumaError) as raised:
            draw(scenario, 2, 42)
        assert sentence in str(raised.value)
