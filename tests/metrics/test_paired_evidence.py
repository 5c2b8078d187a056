"""The amount of evidence for a change, and the conclusions that its interval allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_puma.core import Change, Scenario
from pytest_puma.metrics.evidence import independent_counts
from pytest_puma.metrics.paired import on_common_rows, paired_change
from tests.factories import LABELS, Estimation, Triage, paired, predictions, replicates
from tests.metrics.texts import paired_texts, texts

FIVES = ["5"] * 60


def changed(
    scenario: Scenario, metric: str, golds: Sequence[str], new: Sequence[str | None], old: Sequence[str | None]
) -> Change:
    change = paired(scenario, predictions(golds, new), predictions(golds, old)).change(metric)
    assert change is not None
    return change


@pytest.mark.parametrize(("count", "thin"), [(14, True), (15, False)])
def test_fewer_than_fifteen_equal_changes_of_errors_are_thin(count: int, *, thin: bool) -> None:
    assert changed(Estimation(), "mae", FIVES, ["7"] * count + FIVES[count:], FIVES).thin == thin


@pytest.mark.parametrize(("rows", "thin"), [(19, True), (20, False)])
def test_changes_of_fewer_than_twenty_rows_are_thin(rows: int, *, thin: bool) -> None:
    assert changed(Triage("AB"), "accuracy", "A" * rows, "B" * rows, "A" * rows).thin == thin


@pytest.mark.parametrize(("value", "changed"), [(0.1 + 0.2, False), (0.3 * (1 + 1e-11), True)])
@pytest.mark.parametrize("quotient", [False, True])
def test_a_rounding_error_is_no_change(value: float, *, changed: bool, quotient: bool) -> None:
    golds = ["A", "B"] * 10
    one, other = (replicates(Triage(), predictions(golds, answers), "accuracy") for answers in ("A" * 20, "B" * 20))
    change = paired_change(replace(one, value=value), replace(other, value=0.3), quotient=quotient)

    assert (change.worse, change.better) == (10, 10)
    assert (change.value != quotient) is changed


def test_a_change_of_nothing_is_not_thin() -> None:
    assert not changed(Triage("AB"), "accuracy", "A" * 3, "A" * 3, "A" * 3).thin


def test_a_change_of_a_metric_without_an_interval_is_thin() -> None:
    rows = [0.001 * row for row in range(60)]
    new, old = ([{"A": share - less, "B": 1 - share + less} for less in rows] for share in (0.9, 0.6))
    pairs = paired(Triage("AB"), predictions("A" * 60, "A" * 60, new), predictions("A" * 60, "A" * 60, old))
    thin = [each.thin for metric in ("ece", "brier") if (each := pairs.change(metric)) is not None]
    assert thin == [True, False]


def test_a_change_with_a_higher_level_needs_more_evidence() -> None:
    """Six answers became wrong: p = 2 / 64."""
    pairs = paired(Triage("AB"), predictions("A" * 40, "B" * 6 + "A" * 34), predictions("A" * 40, "A" * 40))
    usual, strict = (pairs.change("accuracy", level=level) for level in (0.95, 0.99))
    assert usual is not None
    assert strict is not None
    assert (usual.high < 0, usual.level) == (True, 0.95)
    assert (strict.high >= 0, strict.level) == (True, 0.99)


def test_a_change_of_a_correlation_may_be_greater_than_1() -> None:
    points = ["1", "2", "3", "5"] * 10
    change = changed(Estimation(), "spearman", points, points, ["5", "3", "2", "1"] * 10)
    assert change.value == change.high == 2
    assert change.low > 1
    assert change.share


def test_a_quotient_of_shares_has_no_bounds() -> None:
    change = paired_texts(texts([1.0] * 32 + [0.0] * 8), texts([1.0] * 8 + [0.0] * 32)).change(
        "closeness", quotient=True
    )
    assert change is not None
    assert change.value == pytest.approx(4)
    assert change.low < 4 < change.high
    assert change.low > 1


def test_a_quotient_without_any_error_is_1_and_after_one_without_end() -> None:
    change = paired(Estimation(), predictions(FIVES, FIVES), predictions(FIVES, FIVES)).change("mae", quotient=True)
    assert change is not None
    assert (change.value, change.low, change.high) == (1, 1, 1)
    change = paired(Estimation(), predictions(FIVES, ["6"] * 60), predictions(FIVES, FIVES)).change(
        "mae", quotient=True
    )
    assert change is not None
    assert change.value > 1e8


def test_what_has_no_value_in_either_set_has_a_change_without_one() -> None:
    change = changed(Estimation(), "spearman", FIVES, FIVES, FIVES)
    assert (change.changed, change.n) == (0, 60)
    assert all(map(math.isnan, (change.value, change.low, change.high)))


def test_a_number_of_two_hundred_digits_has_a_change() -> None:
    looping = ["1" + "0" * 200, *FIVES[1:]]
    for metric in ("rmse", "mae"):
        change = changed(Estimation(), metric, FIVES, looping, FIVES)
        assert change.value > 1e197
        assert change.thin


def test_a_few_large_squares_count_as_few_where_their_errors_are_many() -> None:
    """Errors of 1 in 40 rows and of 30 in two: (40 + 60)^2 / (40 + 1800) = 5.4 errors, and hardly three squares."""
    answers = ["35"] * 2 + ["6"] * 40 + FIVES[42:]
    squares, errors = (changed(Estimation(), metric, FIVES, answers, FIVES) for metric in ("rmse", "mae"))
    assert (squares.low, errors.low) == (0, 0) or squares.low < 0 < errors.low
    assert squares.thin
    assert errors.thin


def test_equal_answers_with_another_value_of_an_own_metric_have_all_changed() -> None:
    def lengths(*counts: int) -> tuple[float, float]:
        own = {"mean_length": lambda rows: sum(each.fields["length"] for each in rows) / len(rows)}
        answers = [
            replace(each, fields={"length": count}) for each, count in zip(predictions("AA", "AA"), counts, strict=True)
        ]
        made = replicates(Triage("AB", metrics=own), answers, "mean_length")
        return made.value, independent_counts(made, replace(made, values=tuple(1.5 * each for each in made.values)))[1]

    assert lengths(2, 4) == (3, 2)


def test_a_changed_answer_counts_for_an_own_metric_if_there_is_one() -> None:
    own = {"share_a": lambda rows: sum(each.answer == "A" for each in rows) / len(rows)}
    change = changed(Triage("AB", metrics=own), "share_a", "A" * 30, "A" * 24 + "B" * 6, "A" * 30)
    assert (change.changed, change.n) == (6, 30)
    assert change.value == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("size", "changes", "counts"),
    [
        (1, [0, 1, 5], (24, 3)),
        (2, [0, 1, 5], (12, 2)),
        # Too few groups: 3 of 24 rows are half of one of four observations.
        (6, [0, 1, 5], (4, 1)),
        (6, [0, 1, 5, 6, 7, 8, 9], (4, 2)),
    ],
)
def test_rows_that_share_units_are_one_observation(size: int, changes: list[int], counts: tuple[int, int]) -> None:
    units = [(f"u{row // size}",) for row in range(24)]
    answers = ["B" if row in changes else "A" for row in range(24)]
    new, old = (
        replicates(Triage("AB"), predictions("A" * 24, each, units=units), "accuracy") for each in (answers, "A" * 24)
    )
    assert independent_counts(new, old) == counts


@pytest.mark.parametrize(("size", "sure"), [(3, False), (1, True)])
def test_changes_of_a_few_groups_are_no_surer_than_as_many_coins(size: int, *, sure: bool) -> None:
    """Six rows of two groups, or of six."""
    units = [(f"u{row // size}",) for row in range(60)]
    new, old = (predictions("A" * 60, each, units=units) for each in ("B" * 6 + "A" * 54, "A" * 60))
    change = paired(Triage("AB"), new, old).change("accuracy")
    assert change is not None
    assert (change.high < 0) == sure


def test_rows_that_contribute_in_one_set_only_are_left_out_of_both() -> None:
    new, old = (
        replicates(Estimation(), predictions(["5"] * 4, answers), "mae")
        for answers in (["6", None, "7", "5"], ["5", "9", None, "8"])
    )
    one, other = on_common_rows(new, old)
    assert (one.answers, other.answers) == (("6", "5"), ("5", "8"))
    assert (one.errors, other.errors) == ((1, 0), (0, 3))
    assert (one.value, other.value, len(one.values)) == (0.5, 1.5, 2000)
    none = on_common_rows(
        *(replicates(Estimation(), predictions("55", each), "mae") for each in ([None, "5"], ["5", None]))
    )
    assert math.isnan(none[0].value)
    assert none[0].answers == ()


def test_rows_outside_of_a_slice_are_left_out_with_the_value_unchanged() -> None:
    class Subjects(Triage):
        group_columns = ("subject",)

    rows = [replace(each, groups={"subject": "ab"[row % 2]}) for row, each in enumerate(predictions("ABCD", LABELS))]
    made = replicates(Subjects(), rows, "accuracy[subject=b]")
    one, _ = on_common_rows(made, made)
    assert (one.answers, one.errors, one.inputs, one.value, one.values) == (
        ("B", "D"),
        (0, 0),
        ((1,), (1,)),
        1,
        made.values,
    )
