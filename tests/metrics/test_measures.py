"""What all measures of a cell have in common."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.core import DataError, Measure, Prediction, Scenario, SettingsError, Usage
from pytest_puma.gates import parse_gate
from pytest_puma.metrics import ScoredPredictions, is_metric, metric_names
from pytest_puma.stats import wilson
from tests.metrics.cells import Estimation, Triage, measured, predictions


def a_cell(scenario: Scenario, n: int, *, probabilities: bool = True) -> list[Prediction]:
    rng = np.random.default_rng(7)
    labels = scenario.valid_labels()
    golds, guesses = rng.choice(labels, n), rng.choice(labels, n)
    answers = np.where(rng.random(n) < 0.6, golds, guesses)
    shares = rng.dirichlet(np.ones(len(labels)), n) if probabilities else np.empty((n, 0))
    known = [dict(zip(labels, row, strict=False)) or None for row in shares.tolist()]
    found = predictions(golds.tolist(), [None if row % 50 == 0 else str(a) for row, a in enumerate(answers)], known)
    if not probabilities:
        return found
    # As option scoring leaves them, with a part of the probability on other replies.
    logprobs = np.log(shares) - rng.random((n, 1))
    return [replace(p, finish="scored", logprobs=tuple(row)) for p, row in zip(found, logprobs.tolist(), strict=True)]


def same(left: dict[str, Measure], right: dict[str, Measure]) -> bool:
    return repr(left) == repr(right)  # NaN equals itself here


@pytest.mark.parametrize("scenario", [Triage(own={"mine": len}), Estimation()])
def test_a_cell_has_exactly_the_named_metrics_primary_first(scenario: Scenario) -> None:
    found = measured(scenario, a_cell(scenario, 40))

    assert tuple(found) == metric_names(scenario)
    assert next(iter(found)) == scenario.primary_metric()
    assert all(measure.metric == name for name, measure in found.items())


#: Left out where no row is behind them.
OPTIONAL = {"ece", "mce", "brier", "outside_labels", "mae_expected", "kappa_quadratic", "spearman", "kendall_tau"}


def test_the_names_of_a_classification() -> None:
    assert metric_names(Triage("AB", own={"mine": len}, primary="accuracy")) == (
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
        "mine",
        "parse_failure_rate",
        "truncation_rate",
        "overflow_rate",
        "brier",
        "ece",
        "mce",
        "outside_labels",
        "latency_mean",
        "tokens_prompt_mean",
        "tokens_decoded_mean",
        "tokens_cached_mean",
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


@pytest.mark.parametrize("scenario", [Triage(["Won't fix", "<1h", "a.b", "N/A"], own={"x.y+z-1": len}), Estimation()])
def test_a_gate_can_name_every_metric(scenario: Scenario) -> None:
    for name in metric_names(scenario):
        assert parse_gate(f"{name} >= 0.5").metric == name
        assert is_metric(scenario, name)
    assert not is_metric(scenario, "f1_marco")


@pytest.mark.parametrize("scenario", [Triage(own={"mine": len}), Estimation()])
@pytest.mark.parametrize("shared", [False, True])
def test_the_same_seed_gives_the_same_measures(scenario: Scenario, *, shared: bool) -> None:
    found = a_cell(scenario, 60)
    if shared:
        found = [replace(p, units=(f"left{row % 9}", f"right{row}")) for row, p in enumerate(found)]
    first, again, other = (measured(scenario, found, seed=seed) for seed in (1, 1, 2))

    assert same(first, again)
    assert not same(first, other)
    assert [measure.value for measure in first.values()] == [measure.value for measure in other.values()]


@pytest.mark.parametrize("scenario", [Triage(), Estimation()])
def test_every_interval_holds_its_value(scenario: Scenario) -> None:
    for measure in measured(scenario, a_cell(scenario, 40)).values():
        bare = measure.metric in {"ece", "mce"}
        assert math.isnan(measure.low) is math.isnan(measure.high) is (bare or measure.n == 0)
        assert bare or measure.low <= measure.value <= measure.high or measure.n == 0


@pytest.mark.parametrize("scenario", [Triage(own={"mine": lambda found: 1 / len(found)}), Estimation()])
def test_an_empty_cell_has_nothing_to_measure(scenario: Scenario) -> None:
    found = measured(scenario, [])

    assert set(found) == set(metric_names(scenario)) - OPTIONAL
    for measure in found.values():
        assert (measure.n, measure.note) == (0, "nothing to measure")
        assert all(map(math.isnan, (measure.value, measure.low, measure.high)))


@pytest.mark.parametrize(("n", "note"), [(29, "n under 30: the interval is approximate"), (30, "")])
def test_a_small_sample_is_marked(n: int, note: str) -> None:
    found = measured(Triage("A"), predictions("A" * n, "A" * (n - 10) + "x" * 10))

    assert found["f1_macro"].note == found["accuracy"].note == note


@pytest.mark.parametrize(
    ("n", "misses", "note"),
    [(99, 4, "under 5 on one side: the interval is approximate"), (99, 5, ""), (100, 4, "")],
)
def test_a_proportion_near_its_end_is_marked_where_samples_are_few(n: int, misses: int, note: str) -> None:
    found = measured(Triage("AB"), predictions("A" * n, "B" * misses + "A" * (n - misses)))

    assert found["accuracy"].note == note


def test_failures_and_overflows_are_rates_over_all_predictions() -> None:
    found = predictions("A" * 40, ["A"] * 30 + [None] * 10)
    found[-4:] = [replace(prediction, finish="overflow") for prediction in found[-4:]]
    measures = measured(Triage("A"), found)

    failures, overflow = measures["parse_failure_rate"], measures["overflow_rate"]
    assert (failures.value, failures.low, failures.high, failures.n) == (0.25, *wilson(10, 40), 40)
    assert (overflow.value, overflow.low, overflow.high, overflow.n) == (0.1, *wilson(4, 40), 40)


def test_costs_are_means_per_prediction() -> None:
    usages = [
        Usage(prompt_tokens=300 + row, cached_tokens=200, decoded_tokens=row % 3, seconds=0.5) for row in range(31)
    ]
    found = [replace(p, usage=usage) for p, usage in zip(predictions("A" * 31, "A" * 31), usages, strict=True)]
    measures = measured(Triage("A"), found)

    assert measures["latency_mean"].value == measures["latency_mean"].high == 0.5
    assert measures["tokens_prompt_mean"].value == 315
    assert 311 < measures["tokens_prompt_mean"].low < 315 < measures["tokens_prompt_mean"].high < 319
    assert measures["tokens_decoded_mean"].value == pytest.approx(sum(row % 3 for row in range(31)) / 31)
    assert measures["tokens_cached_mean"].value == 200


def test_both_orders_of_a_pair_count_as_one_observation() -> None:
    once = predictions("AB" * 20, "AA" * 20)
    both = [
        replace(p, sample_id=f"{p.sample_id}-{order}", units=units)
        for row, p in enumerate(once)
        for order, units in enumerate([(f"{row}", "x" * row), ("x" * row, f"{row}")])
    ]
    alone, together = measured(Triage("AB"), once), measured(Triage("AB"), both)

    assert together["accuracy"].value == alone["accuracy"].value
    assert together["accuracy"].n == 2 * alone["accuracy"].n
    # Twice the rows, but no narrower than a bootstrap of the pairs, which Wilson approximates.
    width, alone_width = (m["accuracy"].high - m["accuracy"].low for m in (together, alone))
    assert width == pytest.approx(alone_width, rel=0.1)


def test_shared_units_widen_the_interval_of_a_proportion() -> None:
    independent = predictions("A" * 60, ["A", "B"] * 30)
    shared = [replace(p, units=(f"issue{row % 4}", f"own{row}")) for row, p in enumerate(independent)]
    (low, high), (wide_low, wide_high) = (
        (m.low, m.high) for m in (measured(Triage("AB"), rows)["accuracy"] for rows in (independent, shared))
    )

    assert wide_low < low
    assert wide_high > high


def test_an_own_metric_sees_repeated_predictions_and_gets_an_interval() -> None:
    lengths = []

    def share_right(found: Sequence[Prediction]) -> float:
        lengths.append(len(found))
        return sum(prediction.answer == prediction.gold for prediction in found) / len(found)

    found = measured(Triage("AB", own={"mine": share_right}), predictions("AB" * 40, "AA" * 40))["mine"]

    assert lengths == [80] * 301
    assert found.value == 0.5
    assert (found.low, found.high) == pytest.approx(wilson(40, 80), abs=0.02)
    assert found.n == 80


def test_an_own_metric_that_divides_by_zero_has_nothing_to_measure() -> None:
    found = measured(Triage("A", own={"mine": lambda rows: 1 / (len(rows) - len(rows))}), predictions("A", "A"))["mine"]

    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.note == "nothing to measure"


def test_a_fault_of_an_own_metric_is_not_hidden() -> None:
    def faulty(found: Sequence[Prediction]) -> float:
        return (found[0].probabilities or {})["A"]

    with pytest.raises(KeyError):
        measured(Triage("A", own={"mine": faulty}), predictions("A", "A"))


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Triage(own={"accuracy": len}), "triage: two metrics are named 'accuracy'"),
        (Triage(["A", "A"]), "triage: two metrics are named 'per_class.A.precision'"),
        (Triage(own={"my metric": len}), "triage: metrics\\(\\) names 'my metric'; expected letters"),
        (Triage(primary="f1"), "triage: primary_metric\\(\\) is 'f1'; expected one of f1_macro, f1_weighted, accuracy"),
    ],
)
def test_unusable_names_are_refused(scenario: Scenario, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        metric_names(scenario)


@pytest.mark.parametrize(
    ("scenario", "gold", "expected"),
    [
        (Triage("AB"), "a", "triage: sample 's1' has the gold answer 'a'; expected one of A, B"),
        (Estimation(), "five", "estimation: sample 's1' has the gold answer 'five'; expected a finite number"),
        (Estimation(), "nan", "estimation: sample 's1' has the gold answer 'nan'; expected a finite number"),
    ],
)
def test_a_gold_that_nothing_could_equal_is_refused(scenario: Scenario, gold: str, expected: str) -> None:
    good = scenario.valid_labels()[0]

    with pytest.raises(DataError, match=expected):
        measured(scenario, predictions([good, gold], [good, good]))


def test_the_time_and_the_calls_of_own_metrics_are_kept() -> None:
    def slow(found: Sequence[Prediction]) -> float:
        time.sleep(0.001)
        return float(len(found))

    answers = ScoredPredictions(Triage("A", own={"slow": slow, "fast": len}), predictions("AA", "AA"), seed=1)
    answers.measures()
    assert answers.own()["slow"].calls == answers.own()["fast"].calls == 301
    assert answers.own()["slow"].seconds > 0.3 > answers.own()["fast"].seconds
