"""Order and distance on a scale, against scikit-learn, SciPy and plain loops."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from pytest_puma.core import Scenario
from pytest_puma.metrics.catalogue import Catalogue
from pytest_puma.metrics.kernels import BUILDERS
from pytest_puma.metrics.table import PredictionTable
from tests.factories import LABELS, POINTS, Estimation, OrderedTriage, Triage, measured, predictions, scored

ORDINAL = ("kappa_quadratic", "spearman", "kendall_tau")
steps = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=2, max_size=50)
points = st.lists(st.tuples(st.sampled_from(POINTS), st.sampled_from(POINTS)), min_size=2, max_size=50)


def value(scenario: Scenario, golds: Sequence[str], answers: Sequence[str | None], metric: str) -> float:
    return scored(scenario, predictions(golds, answers)).values([metric])[metric].value


@given(steps)
def test_kappa_is_that_of_scikit_learn_over_the_read_answers(rows: list[tuple[str, str | None]]) -> None:
    read = [(LABELS.index(gold), LABELS.index(answer)) for gold, answer in rows if answer is not None]
    answered = scored(OrderedTriage(), predictions(*zip(*rows, strict=True)))
    kappa = answered.values(["kappa_quadratic"])["kappa_quadratic"]

    assert kappa.n == len(read)
    if len({each for pair in read for each in pair}) > 1:
        expected = cohen_kappa_score(*zip(*read, strict=True), weights="quadratic", labels=range(len(LABELS)))
        assert kappa.value == pytest.approx(expected)


@given(points)
def test_rank_correlations_are_those_of_scipy(rows: list[tuple[str, str]]) -> None:
    golds, answers = zip(*rows, strict=True)
    numbers = [[float(text) for text in side] for side in (golds, answers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a constant has no correlation
        expected = {"spearman": spearmanr(*numbers).statistic, "kendall_tau": kendalltau(*numbers).statistic}

    for metric, number in expected.items():
        assert value(Estimation(), golds, answers, metric) == pytest.approx(number, nan_ok=True)


@given(steps)
def test_macro_recall_is_balanced_accuracy(rows: list[tuple[str, str | None]]) -> None:
    golds, answers = zip(*rows, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an answer is no gold label
        expected = balanced_accuracy_score(golds, [answer or "none" for answer in answers])

    assert value(Triage(), golds, answers, "recall_macro") == pytest.approx(expected)


@given(points)
def test_standardised_accuracy_is_measured_against_every_other_gold_value(rows: list[tuple[str, str]]) -> None:
    golds, answers = zip(*rows, strict=True)
    error = fmean(abs(float(gold) - float(answer)) for gold, answer in rows)
    chance = fmean(abs(float(one) - float(other)) for one, other in permutations(golds, 2))

    expected = 1 - error / chance if chance else math.nan
    assert value(Estimation(), golds, answers, "standardised_accuracy") == pytest.approx(expected, nan_ok=True)


@given(points, st.data())
@settings(max_examples=30)
def test_a_weight_is_as_many_rows(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    """A resample measures the same as its rows written out."""
    weights = data.draw(
        st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(lambda w: sum(w) > 1)
    )
    golds, answers = zip(*rows, strict=True)
    again = [row for row, times in zip(rows, weights, strict=True) for _ in range(times)]
    statistics = {
        each.name: each
        for each in Catalogue(Estimation(), PredictionTable.of(Estimation(), predictions(golds, answers))).all()
    }

    for metric in (*ORDINAL, "standardised_accuracy"):
        (result,) = statistics[metric].kernel(np.array([weights], dtype=np.float64))
        expected = value(Estimation(), [gold for gold, _ in again], [answer for _, answer in again], metric)
        assert result == pytest.approx(expected, nan_ok=True)


def test_a_perfect_order_is_1_and_its_reverse_minus_1() -> None:
    for metric in ("spearman", "kendall_tau"):
        assert value(Estimation(), POINTS, POINTS, metric) == pytest.approx(1)
        assert value(Estimation(), POINTS, POINTS[::-1], metric) == pytest.approx(-1)


def test_labels_without_an_order_have_no_distances() -> None:
    assert not set(ORDINAL) & measured(Triage(), predictions(["A", "B"], ["A", "B"])).keys()


def test_many_distinct_answers_have_no_tau() -> None:
    golds = [str(number) for number in range(70)]
    measures = measured(Estimation(), predictions(golds, golds))

    assert "kendall_tau" not in measures
    assert measures["spearman"].value == pytest.approx(1)


def test_parse_failures_are_left_out_with_a_note() -> None:
    measure = measured(OrderedTriage(), predictions(["A", "B", "C", "D"], ["A", "B", "C", None]))["spearman"]

    assert measure.n == 3
    assert measure.value == pytest.approx(1)
    assert "unreliable: 1 of 4 answers could not be parsed" in measure.note


def test_where_a_resample_holds_one_number_only_kappa_has_nothing_to_measure() -> None:
    """A greater number elsewhere in the cell left a rest by rounding, which looked like agreement."""
    table = PredictionTable.of(Estimation(), predictions(["1", "1"], ["34", "1"]))
    kappa = next(each for each in Catalogue(Estimation(), table).all() if each.name == "kappa_quadratic")

    assert math.isnan(kappa.kernel(np.array([[0.0, 3.0]]))[0])


@pytest.mark.parametrize(("distinct", "measured_tau"), [(64, True), (65, False)])
def test_tau_counts_up_to_4096_distinct_pairs(distinct: int, *, measured_tau: bool) -> None:
    numbers = [str(number) for number in range(distinct)]
    table = PredictionTable.of(Estimation(), predictions(numbers, numbers))
    assert any(each.name == "kendall_tau" for each in Catalogue(Estimation(), table).all()) == measured_tau


def test_kappa_of_numbers_of_two_hundred_digits_is_finite() -> None:
    numbers = np.array([1e200, 0.0, 5.0, 5.0])
    assert BUILDERS["kappa_quadratic"](numbers, numbers)(np.ones((1, 4)))[0] == 1
