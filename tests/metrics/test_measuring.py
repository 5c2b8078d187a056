"""All measures of a cell: intervals, seeds, notes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.core import Measure, Prediction, Scenario
from pytest_puma.metrics import metric_names
from pytest_puma.metrics.ranking import NAMES
from tests.factories import LABELS, Estimation, Triage, measured, predictions
from tests.transcripts import replied


def a_cell(scenario: Scenario, n: int, *, probabilities: bool = True) -> list[Prediction]:
    rng = np.random.default_rng(7)
    labels = scenario.valid_labels()
    golds, guesses = rng.choice(labels, n), rng.choice(labels, n)
    answers = np.where(rng.random(n) < 0.6, golds, guesses)
    shares = rng.dirichlet(np.ones(len(labels)), n) if probabilities else np.empty((n, 0))
    result = [dict(zip(labels, row, strict=False)) or None for row in shares.tolist()]
    answered = predictions(golds.tolist(), [None if row % 50 == 0 else str(a) for row, a in enumerate(answers)], result)
    if not probabilities:
        return answered
    # As option scoring leaves them, with a part of the probability on other replies.
    logprobs = np.log(shares) - rng.random((n, 1))
    return [
        replied(p, finish="scored", logprobs=tuple(row)) for p, row in zip(answered, logprobs.tolist(), strict=True)
    ]


def same(left: dict[str, Measure], right: dict[str, Measure]) -> bool:
    return repr(left) == repr(right)  # NaN equals itself here


#: Left out without a time, and without a counter of energy.
UNCLOCKED = {"tokens_per_second", "joules_mean", "joules_per_right"}


@pytest.mark.parametrize("scenario", [Triage(metrics={"mine": len}), Estimation()])
def test_a_cell_has_exactly_the_named_metrics_primary_first(scenario: Scenario) -> None:
    measures = measured(scenario, a_cell(scenario, 40))

    assert tuple(measures) == tuple(name for name in metric_names(scenario) if name not in UNCLOCKED)
    assert next(iter(measures)) == scenario.primary_metric()
    assert all(measure.metric == name for name, measure in measures.items())


#: Left out where no row is behind them.
OPTIONAL = {"ece", "mce", "brier", "outside_labels", "mae_expected", *UNCLOCKED} | {
    f"{label}{name}" for label in ("", *(f"per_class.{label}." for label in LABELS)) for name in NAMES
}


@pytest.mark.parametrize("scenario", [Triage(metrics={"mine": len}), Estimation()])
@pytest.mark.parametrize("shared", [False, True])
def test_the_same_seed_gives_the_same_measures(scenario: Scenario, *, shared: bool) -> None:
    result = a_cell(scenario, 60)
    if shared:
        result = [replace(p, units=(f"left{row % 9}", f"right{row}")) for row, p in enumerate(result)]
    first, again, other = (measured(scenario, result, seed=seed) for seed in (1, 1, 2))

    assert same(first, again)
    assert not same(first, other)
    assert [measure.value for measure in first.values()] == [measure.value for measure in other.values()]


@pytest.mark.parametrize("scenario", [Triage(), Estimation()])
def test_every_interval_holds_its_value(scenario: Scenario) -> None:
    for measure in measured(scenario, a_cell(scenario, 40)).values():
        bare = measure.metric in {"ece", "mce"}
        assert math.isnan(measure.low) is math.isnan(measure.high) is (bare or measure.n == 0)
        assert bare or measure.low <= measure.value <= measure.high or measure.n == 0


@pytest.mark.parametrize("scenario", [Triage(metrics={"mine": lambda measures: 1 / len(measures)}), Estimation()])
def test_an_empty_cell_has_nothing_to_measure(scenario: Scenario) -> None:
    measures = measured(scenario, [])

    assert set(measures) == set(metric_names(scenario)) - OPTIONAL
    for measure in measures.values():
        assert measure.n == 0
        assert measure.note.endswith("nothing to measure")
        assert all(map(math.isnan, (measure.value, measure.low, measure.high)))


@pytest.mark.parametrize(("n", "note"), [(29, "n under 30: the interval is approximate"), (30, "")])
def test_a_small_sample_is_marked(n: int, note: str) -> None:
    measures = measured(Triage("A"), predictions("A" * n, "A" * (n - 10) + "x" * 10))

    assert measures["f1_macro"].note == measures["accuracy"].note == note


@pytest.mark.parametrize(
    ("n", "misses", "note"),
    [(99, 4, "under 5 on one side: the interval is approximate"), (99, 5, ""), (100, 4, "")],
)
def test_a_proportion_near_its_end_is_marked_where_samples_are_few(n: int, misses: int, note: str) -> None:
    measures = measured(Triage("AB"), predictions("A" * n, "B" * misses + "A" * (n - misses)))

    assert measures["accuracy"].note == note


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
