"""Changes of a metric between two sets of answers to the same samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from pytest_puma.core import Prediction, Usage
from pytest_puma.metrics import metric_names
from tests.factories import LABELS, POINTS, Estimation, Triage, paired, predictions, scored
from tests.transcripts import replied

three_of = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None]), st.sampled_from([*LABELS, None])),
    min_size=1,
    max_size=40,
)


@given(three_of)
@settings(max_examples=30)
def test_a_change_is_the_difference_of_what_each_set_measures(rows: list[tuple[str, str | None, str | None]]) -> None:
    golds, new, old = zip(*rows, strict=True)
    pairs = paired(Triage(), predictions(golds, new), predictions(golds, old))
    metrics = ("f1_macro", "accuracy", "parse_failure_rate")
    before, now = (scored(Triage(), predictions(golds, answers)).values(metrics) for answers in (old, new))

    for metric in metrics:
        change = pairs.change(metric)
        assert change is not None
        assert (change.old, change.new) == pytest.approx((before[metric].value, now[metric].value))
        assert change.value == pytest.approx(now[metric].value - before[metric].value)
        assert change.low <= change.value <= change.high


@pytest.mark.parametrize("metric", ["f1_macro", "accuracy", "parse_failure_rate"])
@pytest.mark.parametrize("worse", [12, 14, 16])
def test_the_interval_of_a_change_is_within_what_the_bounds_of_the_metric_allow(worse: int, metric: str) -> None:
    golds = [LABELS[row % len(LABELS)] for row in range(16)]
    new = predictions(golds, [None if row < worse else gold for row, gold in enumerate(golds)])
    change = paired(Triage(), new, predictions(golds, golds)).change(metric)
    assert change is not None
    assert -1 <= change.low <= change.value <= change.high <= 1


@given(three_of)
@settings(max_examples=15)
def test_the_other_way_round_a_change_has_the_other_sign(rows: list[tuple[str, str | None, str | None]]) -> None:
    golds, new, old = zip(*rows, strict=True)
    there = paired(Triage(), predictions(golds, new), predictions(golds, old)).change("f1_macro")
    back = paired(Triage(), predictions(golds, old), predictions(golds, new)).change("f1_macro")

    assert there is not None
    assert back is not None
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert (there.worse, there.better) == (back.better, back.worse)


@pytest.mark.parametrize("quotient", [False, True])
def test_the_same_answers_have_not_changed_at_all(quotient: bool) -> None:  # noqa: FBT001
    same = predictions(["1", "2", "3", "5"] * 5, ["2", None, "3", "8"] * 5)
    pairs = paired(Estimation(), same, same)

    for metric in metric_names(Estimation()):
        change = pairs.change(metric, quotient=quotient)
        if change is not None and change.n and not math.isnan(change.new):
            assert (change.value, change.low, change.high) == (quotient,) * 3
            assert (change.worse, change.better) == (0, 0)


def test_the_interval_is_that_of_the_paired_bootstrap_of_scipy() -> None:
    random = np.random.default_rng(3)
    gold, new, old = (list(random.choice(POINTS, 120)) for _ in range(3))
    change = paired(Estimation(), predictions(gold, new), predictions(gold, old)).change("mae")
    errors = [np.abs(np.array(answers, float) - np.array(gold, float)) for answers in (new, old)]
    expected = bootstrap(
        errors, lambda a, b, axis: a.mean(axis) - b.mean(axis), paired=True, method="percentile", rng=random
    ).confidence_interval

    assert change is not None
    assert change.value == pytest.approx(errors[0].mean() - errors[1].mean())
    # Two bootstraps of some thousand resamples: their ends agree to a twentieth of the width.
    assert (change.low, change.high) == pytest.approx(expected, abs=0.05 * (expected.high - expected.low))


def test_a_quotient_is_of_the_two_values() -> None:
    golds = ["5"] * 40
    pairs = paired(Estimation(), predictions(golds, ["8", "2"] * 20), predictions(golds, ["3", "5"] * 20))
    change = pairs.change("mae", quotient=True)

    assert change is not None
    assert (change.old, change.new, change.value) == pytest.approx((1, 3, 3))
    assert 2 < change.low < 3 < change.high


def test_only_samples_that_both_have_are_compared() -> None:
    new = predictions(["A", "B", "C", "D"], ["A", "B", "A", "A"])
    change = paired(Triage(), new, predictions(["A", "B"], ["B", "B"])).change("accuracy")

    assert change is not None
    assert (change.n, change.old, change.new, change.worse, change.better) == (2, 0.5, 1.0, 0, 1)


def test_a_corrected_gold_holds_for_both() -> None:
    change = paired(Triage(), predictions(["B"] * 3, ["B"] * 3), predictions(["A"] * 3, ["A"] * 3)).change("accuracy")

    assert change is not None
    assert (change.old, change.new) == (0, 1)


def test_answers_that_are_numbers_are_farther_off_or_nearer() -> None:
    golds = ["5", "5", "5", "5", "5"]
    pairs = paired(
        Estimation(), predictions(golds, ["8", "5", None, "2", "8"]), predictions(golds, ["5", "8", "13", None, "2"])
    )
    change = pairs.change("mae")

    assert change is not None
    assert change.graded
    # 8 after 5 is farther off, 5 after 8 is nearer; 8 and 2 are as far off.
    assert (change.n, change.worse, change.better, change.changed) == (3, 1, 1, 2)
    assert (change.new_parse_failures, change.fixed_parse_failures) == (1, 1)
    assert (change.old, change.new) == pytest.approx((2, 2))


def test_a_metric_that_counts_parse_failures_as_wrong_has_no_numbers_of_them() -> None:
    pairs = paired(Triage(), predictions(["A"] * 3, ["B", None, "A"]), predictions(["A"] * 3, ["A", "A", None]))
    changes = [pairs.change(metric) for metric in ("accuracy", "f1_macro", "parse_failure_rate")]
    assert [each and (each.new_parse_failures, each.fixed_parse_failures) for each in changes] == [(None, None)] * 3


def test_values_on_the_shared_samples_are_those_of_the_shared_samples_alone() -> None:
    random = np.random.default_rng(8)
    golds, new, old = (random.choice(POINTS, 50).tolist() for _ in range(3))
    unparsed = [None if row % 7 == 0 else answer for row, answer in enumerate(new)]
    rows = [row for row in range(50) if row % 7]
    both = paired(Estimation(), predictions(golds, unparsed), predictions(golds, old))
    alone = [predictions([golds[row] for row in rows], [each[row] for row in rows]) for each in (new, old)]

    for metric in ("mae", "rmse", "spearman"):
        change, expected = both.change(metric), paired(Estimation(), *alone).change(metric)
        assert change is not None
        assert expected is not None
        assert (change.old, change.new, change.low, change.high) == pytest.approx(
            (expected.old, expected.new, expected.low, expected.high)
        )


def test_an_own_metric_may_look_at_anything() -> None:
    golds = ["A", "B"] * 20
    new, old = predictions(golds, golds), predictions(golds, golds)
    new = [replied(each, usage=Usage(decoded_tokens=row % 5)) for row, each in enumerate(new)]
    own = {"wordiness": lambda result: sum(each.usage.decoded_tokens for each in result) / len(result)}
    change = paired(Triage(metrics=own), new, old).change("wordiness")

    assert change is not None
    assert change.changed == 40
    assert change.low < change.value < change.high


def test_what_one_side_does_not_measure_has_no_change() -> None:
    bare = predictions(["A", "B"], ["A", "B"])
    sure = predictions(["A", "B"], ["A", "B"], [{"A": 1.0}, {"B": 1.0}])

    assert paired(Triage(), sure, bare).change("ece") is None
    assert paired(Triage(), bare, sure).change("ece") is None
    assert paired(Triage(), sure, sure).change("ece") is not None


def test_samples_of_one_unit_are_drawn_together() -> None:
    """Both orders of a pair are one observation: the interval of twice as many rows is no narrower."""
    random = np.random.default_rng(5)
    golds, new, old = (list(random.choice(LABELS, 60)) for _ in range(3))
    once = paired(Triage(), predictions(golds, new), predictions(golds, old)).change("accuracy")
    units = [(f"u{row % 60}",) for row in range(120)]
    linked = [predictions(golds * 2, answers * 2, units=units) for answers in (new, old)]
    both = paired(Triage(), linked[0], linked[1]).change("accuracy")

    assert once is not None
    assert both is not None
    assert both.high - both.low == pytest.approx(once.high - once.low, rel=0.1)


def test_few_large_changes_of_errors_count_as_few() -> None:
    golds = ["5"] * 60
    alike = paired(Estimation(), predictions(golds, ["8"] * 12 + golds[12:]), predictions(golds, golds)).change("mae")
    few = paired(
        Estimation(), predictions(golds, ["34", "34", *["6"] * 10, *golds[12:]]), predictions(golds, golds)
    ).change("mae")

    assert alike is not None
    assert few is not None
    assert alike.changed == few.changed == 12
    assert alike.low > 0 > few.low


def _cycled(wrong: int, n: int = 60) -> list[Prediction]:
    """Answers of four labels, the first of which are wrong."""
    golds = [LABELS[row % len(LABELS)] for row in range(n)]
    return predictions(golds, [LABELS[(row + 1) % len(LABELS)] if row < wrong else golds[row] for row in range(n)])


def test_the_change_of_a_class_with_few_rows_is_approximate() -> None:
    pairs = paired(Triage(), _cycled(wrong=24), _cycled(wrong=0))
    whole, of_class = pairs.change("f1_macro"), pairs.change(f"per_class.{LABELS[0]}.recall")

    assert whole is not None
    assert not whole.approximate
    assert of_class is not None
    assert of_class.changed >= 5
    assert of_class.approximate, "15 rows"


def test_the_change_of_a_mean_square_is_approximate_where_few_errors_make_it() -> None:
    golds = ["3"] * 200
    steady = predictions(golds, ["5" if row % 2 else "3" for row in range(200)])
    near, far = (
        predictions(golds, [end if row < 6 else "3" if row % 2 else "5" for row in range(200)]) for end in ("5", "89")
    )

    for answers, approximate in ((near, False), (far, True)):
        change = paired(Estimation(), answers, steady).change("rmse")
        assert change is not None
        assert change.approximate == approximate


def test_a_single_large_change_of_an_error_counts_as_one() -> None:
    golds = ["5"] * 60
    change = paired(Estimation(), predictions(golds, ["34", *golds[1:]]), predictions(golds, golds)).change("mae")

    assert change is not None
    assert (change.changed, change.worse) == (1, 1)
    assert change.value == pytest.approx(29 / 60)
    assert change.low <= 0 < change.value < change.high
    assert change.approximate


def test_with_other_parse_failures_both_values_are_those_of_the_samples_parsed_in_both() -> None:
    golds = ["5"] * 30
    new = predictions(golds, [None, "8", *["6"] * 28])
    old = predictions(golds, ["34", None, *["5"] * 28])
    change = paired(Estimation(), new, old).change("mae")

    assert change is not None
    assert (change.n, change.old, change.new, change.value) == (28, 0, 1, 1)
