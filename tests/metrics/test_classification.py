from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix

from pytest_puma.metrics import confusion_matrix
from pytest_puma.stats.intervals import wilson
from pytest_puma.stats.resampling import resampling_weights
from tests.factories import LABELS, OrderedTriage, Triage, measured, paired, predictions, scored
from tests.metrics.generated import rows_of_labels

PairedPredictions = list[tuple[str, str | None]]


def columns(pairs: PairedPredictions) -> tuple[list[str], list[str]]:
    """Gold and answer as scikit-learn takes them: no answer is a class of its own, which nothing averages over."""
    return [gold for gold, _ in pairs], [answer or "-" for _, answer in pairs]


@given(rows_of_labels)
@settings(max_examples=40)
def test_averages_agree_with_scikit_learn_over_the_labels_that_occur(pairs: PairedPredictions) -> None:
    golds, answers = columns(pairs)
    occurring = sorted({*golds, *answers} - {"-"})
    measures = measured(Triage(), predictions(golds, [answer for _, answer in pairs]))

    for average in ("macro", "weighted"):
        expected = f1_score(golds, answers, labels=occurring, average=average, zero_division=0)
        assert measures[f"f1_{average}"].value == pytest.approx(expected)
    assert measures["accuracy"].value == pytest.approx(accuracy_score(golds, answers))


@given(rows_of_labels)
@settings(max_examples=40)
def test_within_one_counts_the_neighbours_of_the_right_label(pairs: PairedPredictions) -> None:
    golds, answers = columns(pairs)
    measure = measured(OrderedTriage(), predictions(golds, [answer for _, answer in pairs]))["within_one"]

    near = [
        answer in LABELS and abs(LABELS.index(gold) - LABELS.index(answer)) <= 1
        for gold, answer in zip(golds, answers, strict=True)
    ]
    assert measure.value == pytest.approx(np.mean(near))
    assert measure.n == len(pairs)


def test_labels_without_an_order_have_no_neighbours() -> None:
    assert "within_one" not in measured(Triage(), predictions(["A"], ["B"]))


@given(rows_of_labels)
def test_each_class_agrees_with_scikit_learn(pairs: PairedPredictions) -> None:
    golds, answers = columns(pairs)
    names = [f"per_class.{label}.{name}" for label in LABELS for name in ("precision", "recall", "f1")]
    measures = scored(Triage(), predictions(golds, [answer for _, answer in pairs])).values(names)
    expected = precision_recall_fscore_support(golds, answers, labels=LABELS, zero_division=np.nan)

    for name, values in zip(("precision", "recall", "f1"), expected, strict=False):
        ours = [measures[f"per_class.{label}.{name}"].value for label in LABELS]
        assert ours == pytest.approx(list(values), nan_ok=True)


@given(rows_of_labels)
def test_the_confusion_matrix_agrees_with_scikit_learn(pairs: PairedPredictions) -> None:
    golds, answers = columns(pairs)
    ours = confusion_matrix(predictions(golds, [answer for _, answer in pairs]), LABELS)
    expected = sklearn_confusion_matrix(golds, answers, labels=[*LABELS, "-"])[: len(LABELS)]

    assert list(ours) == list(LABELS)
    assert [[row[answer] for answer in (*LABELS, "no answer")] for row in ours.values()] == expected.tolist()
    assert all(all(row.values()) for row in ours.values())


def test_no_answer_is_wrong_and_costs_no_class_precision() -> None:
    measures = measured(Triage("AB"), predictions("AAAB", ["A", None, None, "B"]))

    assert measures["accuracy"].value == 0.5
    assert measures["per_class.A.recall"].value == pytest.approx(1 / 3)
    assert measures["per_class.A.precision"].value == 1
    assert measures["per_class.B.f1"].value == 1
    assert measures["f1_macro"].value == pytest.approx((0.5 + 1) / 2)


def test_each_number_says_how_many_predictions_it_rests_on() -> None:
    measures = measured(Triage("ABC"), predictions("AAAB", ["A", "B", None, "B"]))

    assert {name: measures[name].n for name in measures if name.startswith(("f1", "acc", "per_class"))} == {
        "f1_macro": 4,
        "f1_weighted": 4,
        "accuracy": 4,
        "per_class.A.precision": 1,
        "per_class.A.recall": 3,
        "per_class.A.f1": 3,
        "per_class.B.precision": 2,
        "per_class.B.recall": 1,
        "per_class.B.f1": 2,
        "per_class.C.precision": 0,
        "per_class.C.recall": 0,
        "per_class.C.f1": 0,
    }


def test_proportions_have_their_wilson_interval() -> None:
    measures = measured(Triage("AB"), predictions("AAAB" * 10, ["A", "B", None, "B"] * 10))

    assert (measures["accuracy"].low, measures["accuracy"].high) == wilson(20, 40)
    assert (measures["per_class.A.recall"].low, measures["per_class.A.recall"].high) == wilson(10, 30)
    assert (measures["per_class.B.precision"].low, measures["per_class.B.precision"].high) == wilson(10, 20)


def test_f1_intervals_hold_their_value_and_shrink_with_n() -> None:
    few, many = (
        measured(Triage("AB"), predictions("AAAB" * times, ["A", "B", None, "B"] * times))["f1_macro"]
        for times in (10, 160)
    )

    assert few.value == many.value
    assert few.low < many.low < many.value < many.high < few.high
    # The normal approximation of a mean over n: a sixteenfold n gives a quarter of the width.
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(4, rel=0.15)


def test_without_a_parsed_answer_all_scores_are_zero() -> None:
    measures = measured(Triage("AB"), predictions("AB" * 20, [None] * 40))

    assert measures["f1_macro"].value == measures["f1_weighted"].value == measures["accuracy"].value == 0
    assert measures["per_class.A.recall"].value == 0
    assert math.isnan(measures["per_class.A.precision"].value)
    assert measures["per_class.A.precision"].note == "nothing to measure"


def test_one_right_sample_scores_one() -> None:
    measures = measured(Triage("AB"), predictions("A", ["A"]))

    assert (measures["f1_macro"].value, measures["f1_macro"].high) == (1, 1)
    assert 0 < measures["f1_macro"].low < 0.1
    assert measures["f1_macro"].note == "n under 30: the interval is approximate"
    assert measures["accuracy"].low == wilson(1, 1)[0]


def test_a_single_class_is_enough() -> None:
    measures = measured(Triage("A"), predictions("A" * 40, ["A"] * 30 + [None] * 10))

    assert measures["f1_macro"].value == measures["f1_weighted"].value == pytest.approx(2 * 30 / 70)
    assert measures["accuracy"].value == 0.75


def test_an_answer_outside_the_labels_was_not_read() -> None:
    answered = predictions("AB", ["a", "B"])

    assert measured(Triage("AB"), answered)["parse_failure_rate"].value == 0.5
    assert confusion_matrix(answered, "AB") == {"A": {"no answer": 1}, "B": {"B": 1}}


def test_where_a_class_is_rare_the_means_over_classes_are_marked() -> None:
    measures = measured(Triage("AB"), predictions("A" * 41 + "B" * 9, "A" * 31 + "B" * 19))
    enough = measured(Triage("AB"), predictions("A" * 40 + "B" * 10, "A" * 30 + "B" * 20))

    assert (
        measures["f1_macro"].note
        == measures["recall_macro"].note
        == "n=9 of the rarest class: the interval is approximate"
    )
    assert measures["per_class.A.f1"].note == enough["f1_macro"].note == ""


@pytest.mark.parametrize(
    ("names", "fewest"),
    [(("f1_macro", "f1_weighted", "recall_macro"), 10), (("kappa_quadratic", "spearman", "kendall_tau"), 20)],
)
def test_where_few_answers_are_wrong_or_right_all_but_proportions_are_marked(
    names: tuple[str, ...], fewest: int
) -> None:
    note = f"under {fewest} answers are right, or under {fewest} wrong: the interval is approximate"

    for wrong, marked in ((fewest - 1, True), (fewest, False), (50 - fewest, False), (51 - fewest, True)):
        measures = measured(OrderedTriage("AB"), predictions("AB" * 25, ("AB" * 25)[:-wrong] + ("BA" * 25)[-wrong:]))
        assert {measures[name].note for name in names} == {note if marked else ""}, wrong
        assert measures["accuracy"].note == ""


@given(st.integers(0, 999))
@settings(max_examples=10)
def test_the_interval_of_macro_f1_is_wilsons_for_as_many_samples_as_its_resamples_vary_like(seed: int) -> None:
    """Resampled by counts of hits; scikit-learn measures some of the resamples, row by row."""
    random = np.random.default_rng(seed)
    golds, answers = (np.array(side) for side in random.choice(list(LABELS), (2, 40)))
    weights = resampling_weights([(f"s{row}",) for row in range(40)], seed=1)
    gold, answered = (side[:, None] == np.array(LABELS) for side in (golds, answers))
    with np.errstate(invalid="ignore"):  # a label that a resample lacks has no F1
        values = np.nanmean(2 * (weights @ (gold & answered)) / (weights @ gold + weights @ answered), axis=1)
    for resample in range(10):
        rows = np.repeat(np.arange(40), weights[resample])
        assert values[resample] == pytest.approx(f1_score(golds[rows], answers[rows], average="macro"))
    measure = scored(Triage(), predictions(golds.tolist(), answers.tolist())).measures(only=["f1_macro"])["f1_macro"]

    share, spread = f1_score(golds, answers, average="macro"), values.var() * 40 / 39
    size = share * (1 - share) / spread
    z = student(39).ppf(0.975)
    low, high = np.roots([1 + z * z / size, -2 * share - z * z / size, share * share])[::-1]

    assert (measure.value, measure.low, measure.high) == pytest.approx((share, low, high))


def test_a_rare_class_is_the_only_note_on_means_over_classes() -> None:
    measures = measured(Triage("AB"), predictions("A" * 41 + "B" * 9, "A" * 46 + "B" * 4))
    assert measures["f1_macro"].note == "n=9 of the rarest class: the interval is approximate"
    assert measures["f1_weighted"].note.startswith("under 10 answers are right")


@pytest.mark.parametrize(("n", "note"), [(29, "n under 30"), (30, "n=9 of the rarest class")])
def test_few_samples_are_marked_before_rare_classes(n: int, note: str) -> None:
    measure = measured(Triage("AB"), predictions("B" * 9 + "A" * (n - 9), "A" * n))["f1_macro"]
    assert measure.note == f"{note}: the interval is approximate"


def test_a_class_without_samples_is_not_rare() -> None:
    assert measured(Triage("ABC"), predictions("AB" * 20, "AA" * 20))["f1_macro"].note == ""


def test_a_class_has_a_change_where_one_of_its_answers_changed() -> None:
    """Three of five changed answers went to B and one from B; one has no label B on either side."""
    pairs = paired(
        Triage("ABC"), predictions("AABCC" * 8, "BBBBA" + "AABCC" * 7), predictions("AABCC" * 8, "AACAB" + "AABCC" * 7)
    )
    change = pairs.change("per_class.B.f1")
    assert change is not None
    assert change.changed == 5
    recall, precision = pairs.change("per_class.B.recall"), pairs.change("per_class.B.precision")
    assert recall is not None
    assert precision is not None
    assert (recall.changed, recall.new, recall.old) == (1, 1, 7 / 8)
    assert (precision.changed, precision.new, precision.old) == (5, 8 / 11, 7 / 8)


@pytest.mark.parametrize(("wrong", "note"), [(9, "under 10 answers are right, or under 10 wrong"), (10, "")])
def test_the_f1_of_a_class_with_few_wrong_answers_is_marked(wrong: int, note: str) -> None:
    measures = measured(Triage("AB"), predictions("A" * 40 + "B" * 40, "B" * wrong + "A" * (40 - wrong) + "B" * 40))
    assert measures["per_class.A.f1"].note == (f"{note}: the interval is approximate" if note else "")
