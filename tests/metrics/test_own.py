"""A scenario's own metrics."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pytest_puma.core import Metric, MetricError, Prediction, SettingsError
from pytest_puma.metrics import ScoredPredictions, metric_names, score
from pytest_puma.stats.intervals import wilson
from tests.factories import Triage, measured, prediction, predictions, sample, scored


def test_an_own_metric_sees_repeated_predictions_and_gets_an_interval() -> None:
    lengths = []

    def share_right(measure: Sequence[Prediction]) -> float:
        lengths.append(len(measure))
        return sum(prediction.answer == prediction.gold for prediction in measure) / len(measure)

    measure = measured(Triage("AB", metrics={"mine": share_right}), predictions("AB" * 40, "AA" * 40))["mine"]

    assert lengths == [80] * 301
    assert measure.value == 0.5
    assert (measure.low, measure.high) == pytest.approx(wilson(40, 80), abs=0.02)
    assert measure.n == 80


def test_an_own_metric_that_is_the_same_in_all_resamples_has_no_interval() -> None:
    def missed(measure: Sequence[Prediction]) -> float:
        rows = [prediction for prediction in measure if prediction.gold == "A"]
        return sum(prediction.answer != "A" for prediction in rows) / len(rows)

    measure = measured(Triage("AB", metrics={"missed": missed}), predictions("A" * 16 + "B" * 104, "A" * 120))["missed"]

    assert measure.value == 0
    assert math.isnan(measure.low)
    assert math.isnan(measure.high)
    assert measure.note == "the same in all resamples: no interval"


def test_a_negative_zero_is_a_zero() -> None:
    measure = measured(Triage("A", metrics={"mine": lambda _: -0.0}), predictions("A", "A"))["mine"]
    assert str(measure.value) == "0.0"


def test_an_own_metric_that_divides_by_zero_has_nothing_to_measure() -> None:
    measure = measured(Triage("A", metrics={"mine": lambda rows: 1 / (len(rows) - len(rows))}), predictions("A", "A"))[
        "mine"
    ]

    assert math.isnan(measure.value)
    assert math.isnan(measure.low)
    assert measure.note == "nothing to measure"


def test_a_fault_of_an_own_metric_is_not_hidden() -> None:
    def faulty(result: Sequence[Prediction]) -> float:
        return (result[0].probabilities or {})["A"]

    with pytest.raises(MetricError, match=r"metric 'mine' raised KeyError: 'A' \(test_own.py:\d+\)"):
        measured(Triage("A", metrics={"mine": faulty}), predictions("A", "A"))


UNUSABLE: list[Any] = [
    None,
    "high",
    "0.5",
    b"1",
    {},
    1 + 2j,
    np.complex64(1),
    10**400,
    Decimal("sNaN"),
    np.array([1.0, 2.0]),
]


@pytest.mark.parametrize(
    "value", [*UNUSABLE, Decimal("sNaN"), math.inf, np.float32("-inf"), Decimal("Infinity"), Fraction(10**400)]
)
def test_an_own_metric_returns_a_finite_number(value: object) -> None:
    shown = f"metric 'mine' returned {repr(value)[:200]}"
    with pytest.raises(MetricError, match=re.escape(shown) + ".*; expected a finite number, NaN if"):
        measured(Triage("A", metrics={"mine": lambda _: value}), predictions("A", "A"))  # type: ignore[dict-item,return-value]


@pytest.mark.parametrize("value", [*UNUSABLE, math.nan, math.inf])
def test_a_metric_of_a_prediction_returns_a_finite_number_or_none(value: object) -> None:
    if value is not None:
        with pytest.raises(MetricError, match=r"^metric 'mine' returned .* for sample 's0'; expected a "):
            score(Triage("A"), [sample("s0")], [prediction("s0")], [Metric(name="mine", score=lambda *_: value)])


def test_a_whole_number_that_python_does_not_write_is_named_by_its_type() -> None:
    with pytest.raises(MetricError, match="metric 'mine' returned an object of the type int; expected a finite number"):
        measured(Triage("A", metrics={"mine": lambda _: 10**5000}), predictions("A", "A"))


@pytest.mark.parametrize(
    "value", [True, np.float32(0.5), np.int64(1), np.bool_(1), np.array(0.5), Decimal("0.5"), Fraction(1, 2)]
)
def test_numbers_of_other_libraries_are_numbers(value: Any) -> None:
    measures = measured(Triage("A", metrics={"mine": lambda _: value}), predictions("A", "A"))
    assert measures["mine"].value == float(value)


def test_the_time_and_the_calls_of_own_metrics_are_kept() -> None:
    def slow(result: Sequence[Prediction]) -> float:
        time.sleep(0.001)
        return float(len(result))

    answers = scored(Triage("A", metrics={"slow": slow, "fast": len}), predictions("AA", "AA"))
    answers.measures()
    assert answers.own()["slow"].calls == answers.own()["fast"].calls == 301
    assert answers.own()["slow"].seconds > 0.3 > answers.own()["fast"].seconds


@pytest.mark.parametrize(("n", "note"), [(99, "n under 100: the interval is approximate"), (100, "")])
def test_an_own_metric_of_few_rows_is_marked(n: int, note: str) -> None:
    def share_right(measure: Sequence[Prediction]) -> float:
        return sum(prediction.answer == prediction.gold for prediction in measure) / len(measure)

    rows = predictions("A" * n, "B" * 20 + "A" * (n - 20))
    assert measured(Triage("AB", metrics={"mine": share_right}), rows)["mine"].note == note


def test_a_metric_of_a_cell_declares_its_direction_and_its_unit() -> None:
    wordy = Metric(name="wordy", score=len, per="cell", better="low", unit="words")
    mine = measured(Triage("A", metrics={"mine": len, "wordy": wordy}), predictions("A", "A"))
    assert (mine["wordy"].better, mine["wordy"].unit) == ("low", "words")
    assert (mine["mine"].better, mine["mine"].unit) == ("neither", "")


def test_metrics_of_cells_are_requested_by_the_run_too() -> None:
    per_cell, per_trial = Metric(name="both", score=len, per="cell"), Metric(name="one", score=lambda *_: 1.0)
    answers = ScoredPredictions(Triage("A"), predictions("AA", "AA"), seed=1, metrics=[per_cell, per_trial])
    assert set(answers.own()) == {"both"}
    assert answers.value("both") == 2


def test_a_declaration_of_the_run_replaces_none_of_the_scenario() -> None:
    twice = Metric(name="mine", score=len, per="cell")
    with pytest.raises(SettingsError, match="two metrics are named 'mine'"):
        metric_names(Triage("A", metrics={"mine": len}), [twice])
