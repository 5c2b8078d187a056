from __future__ import annotations

import math
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, median_absolute_error, root_mean_squared_error

from pytest_puma.metrics.kernels import median
from pytest_puma.stats.intervals import expanded_percentile_interval
from pytest_puma.stats.resampling import resampling_weights
from tests.factories import POINTS, Estimation, measured, predictions, scored
from tests.metrics.generated import distributions

numbers = st.sampled_from(POINTS) | st.decimals(0, 200, places=1).map(str)
pairs = st.lists(st.tuples(numbers, numbers | st.none()), min_size=1, max_size=60)


@given(pairs.filter(lambda rows: any(answer for _, answer in rows)))
@settings(max_examples=40)
def test_errors_agree_with_scikit_learn_over_the_read_answers(rows: list[tuple[str, str | None]]) -> None:
    measures = measured(Estimation(), predictions(*zip(*rows, strict=True)))
    golds, answers = zip(*[(float(gold), float(answer)) for gold, answer in rows if answer], strict=True)

    for name, reference in {
        "mae": mean_absolute_error,
        "mdae": median_absolute_error,
        "rmse": root_mean_squared_error,
    }.items():
        assert measures[name].value == pytest.approx(reference(golds, answers))
        assert measures[name].low <= measures[name].value <= measures[name].high
        assert measures[name].n == len(golds)


@given(st.lists(st.integers(0, 9) | st.none(), min_size=2, max_size=40).filter(lambda errors: set(errors) != {None}))
@example([0, 9, None, None])
@settings(max_examples=15)
def test_the_interval_of_the_median_is_that_of_repeated_rows(errors: list[int | None]) -> None:
    answers = [None if error is None else str(error) for error in errors]
    measure = scored(Estimation(), predictions(["0"] * len(errors), answers), seed=3).measures(only=["mdae"])["mdae"]
    parsed = np.array([error is not None for error in errors])
    weights = resampling_weights([()] * len(errors), seed=3)[:, parsed]
    values = np.array([error for error in errors if error is not None])
    medians = np.array([np.median(np.repeat(values, repeats)) for repeats in weights if repeats.any()])

    low, high = expanded_percentile_interval(medians, int(parsed.sum()))
    assert (measure.low, measure.high) == pytest.approx((min(low, measure.value), max(high, measure.value)))


def test_without_any_read_answer_the_median_is_nan_in_all_resamples() -> None:
    replicates = scored(Estimation(), predictions(["1"] * 10, [None] * 10)).replicates("mdae")

    assert replicates is not None
    assert np.isnan([replicates.value, *replicates.values]).all()


def test_a_resample_without_any_read_answer_has_no_median() -> None:
    medians = median(np.array([5.0, 9.0]))(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]]))

    assert medians.tolist() == pytest.approx([math.nan, 5, 7], nan_ok=True)


def test_the_interval_of_the_mean_error_covers_as_promised() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        answered = predictions(["0"] * 60, list(map(str, rng.exponential(2.0, size=60))))
        measure = scored(Estimation(()), answered, seed=seed).measures(only=["mae"])["mae"]
        covered += measure.low <= 2.0 <= measure.high

    assert 0.89 <= covered / 200 <= 0.98


@pytest.mark.parametrize(
    ("errors", "interval", "note"),
    [
        ([1] * 49 + [3], (1, 1.223), "one sample is 100% of all that differs: the interval is approximate"),
        ([0] * 99 + [3], (0, 0.168), "one sample is 100% of all that differs: the interval is approximate"),
        # Guessing is 1.633 off here: so far off an error may be of which none was seen.
        ([0] * 50, (0, 3.689 * 1.633 / 50), "no error was seen: the interval is approximate"),
    ],
)
def test_of_few_errors_that_differ_the_interval_is_neither_nothing_nor_endless(
    errors: list[int], interval: tuple[float, float], note: str
) -> None:
    golds = [str(row % 5) for row in range(len(errors))]
    answers = [str(row % 5 + error) for row, error in enumerate(errors)]
    measures = measured(Estimation(()), predictions(golds, answers))

    for name, power in (("mae", 1), ("rmse", 2)):
        measure = measures[name]
        assert 0 <= measure.low <= measure.value < measure.high
        if power == 1:
            assert interval[0] - 0.01 <= measure.low
            assert measure.high == pytest.approx(interval[1], abs=0.2 * interval[1])
    assert measures["mae"].note == note


def test_without_a_seen_error_the_mean_square_may_be_that_of_guessing_in_a_few_rows() -> None:
    """The upper limit of 0 in 50 rows is 3.689; guessing is 1.6 * 50 / 49 off."""
    golds = [str(row % 5) for row in range(50)]
    measures = measured(Estimation(()), predictions(golds, golds))
    assert measures["rmse"].high == pytest.approx(1.6 * 50 / 49 * math.sqrt(3.689 / 50), rel=0.001)
    assert (
        measures["rmse"].note
        == measures["standardised_accuracy"].note
        == "no error was seen: the interval is approximate"
    )


def test_a_single_row_has_nothing_to_guess_from() -> None:
    measure = measured(Estimation(()), predictions(["7"], ["7"]))["mae"]
    assert (measure.value, measure.low, measure.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("gold", "bin_name"),
    [
        ("0.5", "other"),
        ("1", "1-3"),
        ("2.5", "1-3"),
        ("3", "1-3"),
        ("4", "other"),
        ("5", "5-8"),
        ("8", "5-8"),
        ("8.5", "other"),
        ("13", "13-21"),
        ("21", "13-21"),
        ("22", "other"),
        ("33.9", "other"),
        ("34", "34+"),
        ("100", "34+"),
    ],
)
def test_each_gold_belongs_to_one_bin(gold: str, bin_name: str) -> None:
    measures = measured(Estimation(), predictions([gold], [str(float(gold) + 2)]))
    bins = {name: measures[f"mae_by_bin.{name}"] for name in ("1-3", "5-8", "13-21", "34+", "other")}

    assert [name for name, measure in bins.items() if measure.n] == [bin_name]
    assert bins.pop(bin_name).value == pytest.approx(2)
    assert all(math.isnan(measure.value) for measure in bins.values())


def test_parse_failures_have_no_error_and_beyond_one_in_twenty_make_the_rest_unreliable() -> None:
    tolerated = measured(Estimation(), predictions(["3"] * 120, ["5"] * 114 + [None] * 6))
    unreliable = measured(Estimation(), predictions(["3"] * 120, ["5"] * 113 + [None] * 7))

    assert (tolerated["mae"].n, tolerated["mae"].value, tolerated["mae"].note) == (114, 2, "")
    for name in ("mae", "mdae", "rmse", "mae_by_bin.1-3"):
        assert unreliable[name].note == "unreliable: 7 of 120 answers could not be parsed"
    assert unreliable["parse_failure_rate"].note == ""
    assert unreliable["mae_by_bin.34+"].note == ("unreliable: 7 of 120 answers could not be parsed; nothing to measure")


def test_without_any_read_answer_there_is_nothing_to_measure() -> None:
    measure = measured(Estimation(), predictions(["3"] * 40, [None] * 40))["rmse"]

    assert measure.n == 0
    assert math.isnan(measure.value)
    assert math.isnan(measure.low)
    assert math.isnan(measure.high)


@pytest.mark.parametrize("answer", ["1e999", "nan", "many"])
def test_an_answer_that_is_no_finite_number_was_not_read(answer: str) -> None:
    measures = measured(Estimation(), predictions(["3", "3"], ["4", answer]))

    assert (measures["mae"].value, measures["mae"].n) == (1, 1)
    assert measures["parse_failure_rate"].value == 0.5


def test_a_number_of_two_hundred_digits_has_an_error() -> None:
    measures = measured(Estimation(), predictions(["0"] * 4, ["1" + "0" * 200, "0", "0", "0"]))

    assert measures["rmse"].value == pytest.approx(5e199)
    assert measures["mae"].value == pytest.approx(2.5e199)
    assert measures["mdae"].value == 0


@given(st.lists(st.tuples(numbers, distributions(POINTS)), min_size=1, max_size=20))
def test_the_expected_value_has_its_own_error(rows: list[tuple[str, dict[str, float]]]) -> None:
    golds, parsed = zip(*rows, strict=True)
    answered = scored(Estimation(), predictions(golds, ["1"] * len(golds), parsed))
    measures = answered.values(["mae", "mae_expected"])
    expected = [sum(float(label) * share for label, share in shares.items()) for shares in parsed]

    assert measures["mae_expected"].value == pytest.approx(mean_absolute_error([*map(float, golds)], expected))
    assert measures["mae"].value == pytest.approx(mean_absolute_error([*map(float, golds)], [1.0] * len(golds)))


def test_a_regression_may_name_no_values_to_choose_from() -> None:
    measures = measured(Estimation(()), predictions(["3", "5"], ["4", "5.0"]))

    assert measures["mae"].value == 0.5
    assert "mae_expected" not in measures


@given(st.integers(0, 999))
@settings(max_examples=5)
def test_the_interval_of_the_mean_error_is_the_bootstrap_t_interval(seed: int) -> None:
    """Resample by resample, with the standard library's mean and standard deviation."""
    random = np.random.default_rng(seed)
    golds, answers = random.choice(list(POINTS), (2, 30)).tolist()
    errors = [abs(float(gold) - float(answer)) for gold, answer in zip(golds, answers, strict=True)]
    ratios = []
    for times in resampling_weights([(f"s{row}",) for row in range(30)], seed=1):
        again = [error for error, count in zip(errors, times.tolist(), strict=True) for _ in range(count)]
        ratios.append((fmean(again) - fmean(errors)) / (stdev(again) / math.sqrt(30)))
    low, high = np.quantile(ratios, [0.025, 0.975], method="inverted_cdf")
    error = stdev(errors) / math.sqrt(30)

    measure = scored(Estimation(), predictions(golds, answers)).measures(only=["mae"])["mae"]

    # Of two neighbours among the ratios rounding may take the other.
    assert measure.low == pytest.approx(max(0, fmean(errors) - high * error), rel=0.01)
    assert measure.high == pytest.approx(fmean(errors) - low * error, rel=0.01)
