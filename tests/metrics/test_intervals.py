"""The interval that suits a metric, and the note if its coverage is in doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_puma.core import Measure, Metric, Pool, Prediction
from pytest_puma.metrics import ScoredPredictions, score
from pytest_puma.stats.intervals import wilson
from tests.factories import Estimation, Triage, measured, predictions, sample, scored


def of_scores(
    values: Sequence[Any], *, size: int = 1, level: float = 0.95, left: float = 1.0, **declared: Any
) -> Measure:
    """The measure of a metric with these scores; `size` rows that follow each other share a unit."""
    made = predictions("A" * len(values), "A" * len(values), units=[(f"u{row // size}",) for row in range(len(values))])
    metric = Metric(name="m", score=lambda each, _: values[int(each.id[1:])], **declared)
    with_scores = score(Triage("AB"), [sample(each.sample_id) for each in made], made, [metric])
    return ScoredPredictions(Triage("AB"), with_scores, seed=1, metrics=[metric]).measures(level=level, left=left)["m"]


def of_errors(errors: Sequence[float], metric: str, **options: Any) -> Measure:
    answers = [repr(float(error)) for error in errors]
    return scored(Estimation(), predictions(["0"] * len(errors), answers)).measures(**options)[metric]


ERRORS = [float(row % 7) for row in range(60)]


def test_the_interval_of_a_root_is_the_root_of_the_interval_of_its_mean_square() -> None:
    root, mean = of_errors([5 * error for error in ERRORS], "rmse"), of_errors([error**2 for error in ERRORS], "mae")
    assert [root.value, root.low, root.high] == pytest.approx(
        [5 * math.sqrt(end) for end in (mean.value, mean.low, mean.high)]
    )


@pytest.mark.parametrize("metric", ["mae", "rmse", "mdae", "latency_mean"])
def test_a_quarter_left_halves_the_interval_of_a_mean_or_a_median(metric: str) -> None:
    """Three quarters of the planned rows were answered: only the rest can still vary."""
    whole, part = of_errors(ERRORS, metric), of_errors(ERRORS, metric, left=0.25)
    assert whole.value - part.low == pytest.approx((whole.value - whole.low) / 2)
    assert part.high - whole.value == pytest.approx((whole.high - whole.value) / 2)


def test_what_is_left_makes_the_interval_of_a_bounded_score_narrower() -> None:
    scores = [row % 5 / 4 for row in range(60)]
    whole, part = of_scores(scores), of_scores(scores, left=0.25)
    assert part.high - part.low == pytest.approx((whole.high - whole.low) / 2, rel=0.05)


@pytest.mark.parametrize("scores", [[row % 5 / 4 for row in range(60)], [float(row % 2) for row in range(60)]])
def test_a_higher_level_gives_a_wider_interval(scores: list[float]) -> None:
    wide, narrow = of_scores(scores, level=0.99), of_scores(scores)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(2.576 / 1.96, rel=0.05)
    assert (wide.level, narrow.level) == (0.99, 0.95)


@pytest.mark.parametrize("metric", ["mae", "rmse", "mdae"])
def test_a_higher_level_gives_a_wider_interval_of_errors(metric: str) -> None:
    errors = [row**1.5 for row in range(60)]
    assert of_errors(errors, metric, level=0.99).high > of_errors(errors, metric).high


def test_a_mean_of_scores_without_bounds_may_be_below_0() -> None:
    measure = of_scores([row % 5 - 4.0 for row in range(60)], bounds=None)
    assert measure.value == -2
    assert (measure.low, measure.high) == pytest.approx(
        (-2 - 1.96 * math.sqrt(2 / 59), -2 + 1.96 * math.sqrt(2 / 59)), abs=0.05
    )


def test_a_mean_stays_within_its_bounds() -> None:
    measure = measured(Triage("AB"), predictions("A" * 29 + "B", "A" * 30, [{"A": 1.0, "B": 0.0}] * 30))["brier"]
    assert 0 <= measure.low <= measure.value < measure.high <= 2
    worst = measured(Triage("AB"), predictions("B" * 29 + "A", "A" * 30, [{"A": 1.0, "B": 0.0}] * 30))["brier"]
    assert worst.value < worst.high <= 2


def test_shares_of_independent_rows_have_wilsons_interval_and_take_no_resamples() -> None:
    cell = scored(Triage("AB"), predictions("A" * 40, "A" * 30 + "B" * 10))
    measure = cell.measures(only=("accuracy",))["accuracy"]
    assert (measure.low, measure.high) == wilson(30, 40)
    assert "weights" not in vars(cell.resamples)


@pytest.mark.parametrize("more", [0, 1])
def test_units_that_are_almost_equally_right_are_not_certain(more: int) -> None:
    """A model that always takes the same place is right once in each of three orders."""
    share = of_scores([1, 0, 0] * (12 - more) + [1, 1, 0] * more, size=3)
    rows = wilson(12 + more, 36)
    assert share.low <= rows[0] < rows[1] <= share.high
    assert share.high - share.low < 0.6


@pytest.mark.parametrize("n", range(30, 100, 7))
def test_a_kappa_of_constant_answers_is_0_and_not_certain(n: int) -> None:
    """Its values are 0 but for rounding, which is no spread."""
    golds = (["1", "2", "3", "5"] * n)[:n]
    kappa = measured(Estimation(), predictions(golds, ["3"] * n))["kappa_quadratic"]
    assert kappa.value == 0
    assert (kappa.low, kappa.high) == pytest.approx((-2 / math.sqrt(n), 2 / math.sqrt(n)), rel=0.1)


@pytest.mark.parametrize(("units", "note"), [(29, "under 30 independent units: the interval is approximate"), (30, "")])
def test_few_units_of_many_rows_are_marked(units: int, note: str) -> None:
    assert of_scores([row % 3 / 2 for row in range(2 * units)], size=2).note == note


@pytest.mark.parametrize(
    ("odd", "note"), [(9, "under 10 scores differ from the most frequent one: the interval is approximate"), (10, "")]
)
def test_scores_that_hardly_differ_are_marked(odd: int, note: str) -> None:
    assert of_scores([0.5] * odd + [0.25] * (60 - odd)).note == note


@pytest.mark.parametrize(
    ("largest", "note"),
    [(2.8, "one sample is 6% of all that differs: the interval is approximate"), (2.5, "")],
)
def test_a_mean_is_marked_if_one_sample_is_more_than_a_twentieth_of_all(largest: float, note: str) -> None:
    """Forty-eight scores above the smallest one add up to 48."""
    assert of_scores([0.0, *[1.0] * 48, largest], bounds=None).note == note


@pytest.mark.parametrize(
    ("wrong", "note"), [(9, "one sample is 11% of all that differs: the interval is approximate"), (10, "")]
)
def test_a_mean_with_an_upper_bound_is_marked_if_one_sample_is_more_than_a_tenth(wrong: int, note: str) -> None:
    sure = [{"A": 1.0, "B": 0.0}] * 60
    assert measured(Triage("AB"), predictions("B" * wrong + "A" * (60 - wrong), "A" * 60, sure))["brier"].note == note


def test_equal_errors_are_marked_if_none_was_seen() -> None:
    golds = ["1", "3"] * 20
    assert (
        measured(Estimation(), predictions(golds, golds))["mae"].note
        == "no error was seen: the interval is approximate"
    )
    assert measured(Estimation(), predictions(golds, ["2"] * 40))["mae"].note == ""
    assert measured(Triage("A"), predictions("A" * 40, "A" * 40))["tokens_prompt_mean"].note == ""
    assert of_scores([7.0] * 40, bounds=None).note == "all scores are equal: the interval is approximate"


def test_a_metric_without_an_interval_has_its_own_note_only() -> None:
    assert of_scores([0.0, 1.0], interval=False).note == ""
    assert of_scores([0.0, 1.0]).note == "n under 30: the interval is approximate"


def test_trials_of_a_sample_count_once() -> None:
    made = [
        replace(each, sample_id=f"s{row // 2}", trial=row % 2, units=(f"s{row // 2}",))
        for row, each in enumerate(predictions("A" * 8, "A" * 8))
    ]
    some: list[Prediction] = [replace(each, answer=None) if row < 3 else each for row, each in enumerate(made)]
    measures = measured(Triage("AB"), some)
    assert (measures["accuracy"].n, measures["per_class.A.precision"].n) == (4, 3)


def test_a_pool_without_bounds_has_the_percentiles_of_its_resamples() -> None:
    scores = [(float(row % 4), 1.0) for row in range(80)]
    measure = of_scores(scores, bounds=None, pool=Pool(2, lambda sums: sums[:, 0] / sums[:, 1]))
    reach = 1.99 * np.std([row % 4 for row in range(80)], ddof=1) / math.sqrt(80)
    assert (measure.value, measure.low, measure.high) == pytest.approx((1.5, 1.5 - reach, 1.5 + reach), abs=0.03)
