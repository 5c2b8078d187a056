"""Rates of failures, and mean costs per prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Usage
from pytest_puma.core.conversation import Finish
from pytest_puma.metrics import source_of
from pytest_puma.metrics.catalogue import Catalogue
from pytest_puma.metrics.cost import percentile
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.intervals import wilson
from tests.factories import Estimation, Triage, measured, predictions
from tests.transcripts import replied


def test_failures_and_overflows_are_rates_over_all_predictions() -> None:
    answered = predictions("A" * 40, ["A"] * 30 + [None] * 10)
    answered[-4:] = [replied(prediction, finish="overflow") for prediction in answered[-4:]]
    measures = measured(Triage("A"), answered)

    failures, overflow = measures["parse_failure_rate"], measures["overflow_rate"]
    assert (failures.value, failures.low, failures.high, failures.n) == (0.25, *wilson(10, 40), 40)
    assert (overflow.value, overflow.low, overflow.high, overflow.n) == (0.1, *wilson(4, 40), 40)


@pytest.mark.parametrize(("finish", "rate"), [("length", 0.1), ("context", 0.1), ("stop", 0.0), ("overflow", 0.0)])
def test_replies_that_were_cut_off_are_a_rate(finish: Finish, rate: float) -> None:
    answered = predictions("A" * 40, ["A"] * 40)
    answered[-4:] = [replied(prediction, finish=finish) for prediction in answered[-4:]]
    assert measured(Triage("A"), answered)["truncation_rate"].value == rate


def test_costs_are_means_per_prediction() -> None:
    usages = [
        Usage(prompt_tokens=300 + row, cached_tokens=200, decoded_tokens=row % 3, seconds=0.5) for row in range(31)
    ]
    result = [replied(p, usage=usage) for p, usage in zip(predictions("A" * 31, "A" * 31), usages, strict=True)]
    measures = measured(Triage("A"), result)

    assert measures["latency_mean"].value == measures["latency_mean"].high == 0.5
    assert measures["tokens_prompt_mean"].value == 315
    assert 311 < measures["tokens_prompt_mean"].low < 315 < measures["tokens_prompt_mean"].high < 319
    assert measures["tokens_decoded_mean"].value == pytest.approx(sum(row % 3 for row in range(31)) / 31)
    assert measures["tokens_cached_mean"].value == 200


def test_percentiles_are_latencies_that_occurred() -> None:
    seconds = np.random.default_rng(5).permutation(np.arange(1.0, 201.0))
    result = [
        replied(p, usage=Usage(seconds=float(took), decoded_tokens=3))
        for p, took in zip(predictions("A" * 200, "A" * 200), seconds, strict=True)
    ]
    measures = measured(Triage("A"), result)
    assert measures["latency_p50"].value == np.quantile(seconds, 0.5, method="inverted_cdf") == 100
    assert measures["latency_p95"].value == np.quantile(seconds, 0.95, method="inverted_cdf") == 190
    assert 180 < measures["latency_p95"].low < 190 < measures["latency_p95"].high <= 200
    assert measures["latency_p95"].note == ""
    few = measured(Triage("A"), result[:199])
    assert few["latency_p95"].note == "n under 200: the interval is approximate"
    assert few["latency_p50"].note == ""


@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 3)), min_size=1, max_size=30), st.sampled_from([0.5, 0.95]))
def test_a_weighted_percentile_is_that_of_repeated_rows(rows: list[tuple[float, int]], share: float) -> None:
    values, weights = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    (value,) = percentile(values, share)(weights[None])
    repeated = np.repeat(values, weights.astype(int))
    expected = np.quantile(repeated, share, method="inverted_cdf") if len(repeated) else np.nan
    assert np.array_equal(value, expected, equal_nan=True)


def test_the_speed_is_that_of_the_replies_that_have_tokens() -> None:
    usages = [Usage(decoded_tokens=8, seconds=2.0)] * 20 + [Usage(decoded_tokens=2, seconds=1.0)] * 20
    usages += [Usage(prompt_tokens=9, seconds=5.0)] * 2
    result = [replied(p, usage=usage) for p, usage in zip(predictions("A" * 42, "A" * 42), usages, strict=True)]
    speed = measured(Triage("A"), result)["tokens_per_second"]
    assert speed.value == pytest.approx(200 / 60)
    assert speed.n == 40
    assert 2.5 < speed.low < speed.value < speed.high < 4
    assert "tokens_per_second" not in measured(Triage("A"), result[-2:])


def test_joules_per_right_answer_count_the_wrong_ones_too() -> None:
    answers = ["A"] * 30 + ["B"] * 10
    used = [replied(each, joules=2.0 + place % 2) for place, each in enumerate(predictions("A" * 40, answers))]
    measures = measured(Triage("AB"), used)
    assert measures["joules_mean"].value == 2.5
    per_right = measures["joules_per_right"]
    assert per_right.value == pytest.approx(100 / 30)
    assert (per_right.n, per_right.unit) == (40, "J")
    assert 2.5 < per_right.low < per_right.value < per_right.high < 5
    assert not {"joules_mean", "joules_per_right"} & {*measured(Triage("AB"), predictions("A" * 40, answers))}


@pytest.mark.parametrize("scenario", [Triage(), Estimation()])
def test_the_source_of_a_metric_is_that_of_its_statistic(scenario: Triage) -> None:
    statistics = Catalogue(scenario, PredictionTable.of(scenario, ())).all()
    assert {each.name: each.source for each in statistics} == {each.name: source_of(each.name) for each in statistics}


@pytest.mark.parametrize(
    ("metric", "source"),
    [
        ("accuracy", "answers"),
        ("latency_mean", "clock"),
        ("latency_p95[subject=law]", "clock"),
        ("tokens_per_second", "clock"),
        ("joules_per_right", "energy"),
        ("tokens_cached_mean[subject=law]", "tokens"),
        ("outside_labels", "log-probabilities"),
        ("accuracy_tokens", "tokens"),
        ("accuracy_bytes", "answers"),
        ("perplexity.corpus", "tokens"),
    ],
)
def test_sources_are_known_by_name(metric: str, source: str) -> None:
    assert source_of(metric) == source
