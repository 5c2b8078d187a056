"""Metrics over groups of the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.core import Metric
from pytest_puma.metrics import ScoredPredictions, is_metric, pair, score
from pytest_puma.stats.intervals import wilson
from tests.factories import Estimation, Triage, predictions, sample

SUBJECTS = ["law"] * 60 + ["art"] * 20 + ["bio"] * 20
GOLDS = "AB" * 50
#: Right for half of law, for all of art, and for a quarter of bio.
ANSWERS = "AA" * 30 + "AB" * 10 + "BBBA" * 5


class Subjects(Triage):
    group_columns = ("subject", "language")


half = Metric(name="half", score=lambda _, each: 0.5 * (each.answer == each.gold))


def scored(answers: str = ANSWERS) -> ScoredPredictions:
    made = predictions(GOLDS, answers)
    grouped = [
        replace(each, groups={"subject": subject, "language": "en" if row % 5 < 2 else "de"})
        for row, (each, subject) in enumerate(zip(made, SUBJECTS, strict=True))
    ]
    with_scores = score(Subjects("AB"), [sample(each.sample_id) for each in grouped], grouped, [half])
    return ScoredPredictions(Subjects("AB"), with_scores, seed=1, metrics=[half])


def value(name: str) -> float:
    return scored().measures(only=(), sliced=(name,))[name].value


def test_a_slice_has_the_metric_of_its_group_alone() -> None:
    assert [value(f"accuracy[subject={each}]") for each in ("law", "art", "bio")] == [0.5, 1.0, 0.25]
    assert value("half[subject=bio]") == 0.125


def test_several_columns_narrow_a_slice() -> None:
    assert value("accuracy[subject=law,language=de]") == 18 / 36
    assert value("accuracy[subject=art, language=en]") == 1


def test_the_mean_over_groups_does_not_weigh_them_by_their_size() -> None:
    assert value("accuracy[mean subject]") == pytest.approx((0.5 + 1.0 + 0.25) / 3)
    assert value("accuracy") == pytest.approx(0.55)


def test_metrics_of_classes_have_slices_too() -> None:
    assert value("f1_macro[subject=art]") == 1
    assert value("parse_failure_rate[mean language]") == 0


def test_the_interval_of_a_mean_over_groups_is_that_of_independent_groups() -> None:
    measure = scored().measures(only=(), sliced=("half[mean subject]",))["half[mean subject]"]
    spread = [np.sqrt(share * (1 - share) / size) / 2 for share, size in ((0.5, 60), (1.0, 20), (0.25, 20))]
    error = np.sqrt(np.square(spread).sum()) / 3
    assert measure.high - measure.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_the_lowest_group_is_corrected_for_the_choice() -> None:
    name = "accuracy[min subject]"
    measure = scored().measures(only=(), sliced=(name,))[name]
    assert 0.25 <= measure.value < 0.3
    assert "corrected for choosing the min of 3 (bio), observed 0.25" in measure.note
    alone = scored().measures(only=(), sliced=("accuracy[subject=bio]",))["accuracy[subject=bio]"]
    assert measure.high - measure.low > alone.high - alone.low


def test_a_slice_has_the_units_of_its_own_rows() -> None:
    """Four orders of five questions about law are five observations, however many questions there are about art."""
    made = predictions("A" * 160, "ABBB" * 40, units=[(f"u{row // 4}",) for row in range(160)])
    grouped = [replace(each, groups={"subject": "law" if row < 20 else "art"}) for row, each in enumerate(made)]
    cell = ScoredPredictions(Subjects("AB"), grouped, seed=1)
    names = ("accuracy[subject=law]", "accuracy[subject=art]", "accuracy[mean subject]")
    law, art, mean = cell.measures(only=(), sliced=names).values()
    assert (law.low, law.high) == pytest.approx((0.081, 0.558), abs=0.001)
    assert (art.low, art.high) == pytest.approx((0.184, 0.331), abs=0.001)
    # Law has an eighth of the rows and half of the weight: 160 rows are 70 rows of equal weight.
    assert (mean.low, mean.high) == pytest.approx((0.158, 0.372), abs=0.001)


@pytest.mark.parametrize(
    "name", ["accuracy[subject=sport]", "half[subject=sport]", "f1_macro[subject=law,language=fr]"]
)
def test_a_slice_without_rows_has_nothing_to_measure(name: str) -> None:
    measure = scored().measures(only=(), sliced=(name,))[name]
    assert (measure.n, measure.note) == (0, "nothing to measure")
    assert np.isnan([measure.value, measure.low, measure.high]).all()
    assert not pair(scored(), {each.key: each for each in scored().predictions}).covers(name)


@pytest.mark.parametrize("name", ["brier[subject=law]", "brier[subject=sport]", "ece[mean subject]"])
def test_a_slice_of_what_the_cell_does_not_have_is_left_out(name: str) -> None:
    assert name not in scored().measures(only=(), sliced=(name,))


def test_slices_are_compared_pair_by_pair() -> None:
    new, old = scored(), scored(GOLDS)
    pairs = pair(new, {each.key: each for each in old.predictions})
    change = pairs.change("accuracy[subject=law]")
    assert change is not None
    assert (change.value, change.n, change.worse) == (-0.5, 60, 30)
    mean = pairs.change("accuracy[mean subject]")
    assert mean is not None
    assert mean.value == pytest.approx((0.5 + 1 + 0.25) / 3 - 1)


def test_values_of_all_groups_take_no_resamples() -> None:
    names = [f"accuracy[subject={each}]" for each in scored().groups("subject")]
    values = scored().values(names)
    assert [each.value for each in values.values()] == [0.5, 1.0, 0.25]
    assert all(np.isnan(each.low) for each in values.values())


def test_a_slice_needs_a_group_column_of_the_scenario() -> None:
    assert is_metric(Subjects("AB"), "accuracy[mean subject]")
    assert is_metric(Subjects("AB"), "f1_macro[subject=law,language=de]")
    assert not is_metric(Subjects("AB"), "accuracy[mean topic]")
    assert not is_metric(Estimation(), "mae[mean subject]")


def test_the_change_of_a_slice_counts_changed_answers_of_its_rows() -> None:
    new, old = scored(), scored(GOLDS)
    change = pair(new, {each.key: each for each in old.predictions}).change("f1_macro[subject=bio]")
    assert change is not None
    assert (change.n, change.changed, change.thin) == (20, 15, False)


def test_the_interval_of_the_lowest_group_is_wider_around_its_observed_value() -> None:
    name, one = "accuracy[min subject]", "accuracy[subject=bio]"
    chosen, alone = scored().measures(only=(), sliced=(name, one)).values()
    above, below = (chosen.high - alone.value) / (alone.high - alone.value), (alone.value - chosen.low)
    assert above >= 1
    assert below / (alone.value - alone.low) == pytest.approx(above)


def test_the_highest_group_is_corrected_for_the_choice() -> None:
    name, one = "half[max subject]", "half[subject=art]"
    chosen, alone = scored().measures(only=(), sliced=(name, one)).values()
    assert 0.45 < chosen.value <= alone.value == 0.5
    assert "corrected for choosing the max of 3 (art), observed 0.5" in chosen.note
    assert chosen.low <= alone.low


def test_a_choice_of_one_group_needs_no_correction() -> None:
    only = [replace(each, groups={"subject": "law"}) for each in scored().predictions]
    law = ScoredPredictions(Subjects("AB"), only, seed=1, metrics=[half])
    measure = law.measures(only=(), sliced=("accuracy[min subject]",))["accuracy[min subject]"]
    assert (measure.value, measure.note) == (0.55, "")


def test_a_group_without_a_value_does_not_count() -> None:
    """Without a parsed answer, a group has no error."""
    golds, answers = ["3"] * 40, [*["5"] * 20, *["6"] * 10, *[None] * 10]
    rows = [
        replace(each, groups={"size": "abc"[min(row // 20 + row // 30, 2)]})
        for row, each in enumerate(predictions(golds, answers))
    ]
    cell = ScoredPredictions(Estimation(), rows, seed=1)
    assert cell.measures(only=(), sliced=("mae[mean size]",))["mae[mean size]"].value == 2.5
    lowest = cell.measures(only=(), sliced=("mae[min size]",))["mae[min size]"]
    assert "the min of 2 (a), observed 2" in lowest.note
    for name in ("mae[size=c]", "kendall_tau[size=c]"):
        assert cell.measures(only=(), sliced=(name,))[name].n == 0


def test_groups_without_any_value_have_nothing_to_measure() -> None:
    rows = [replace(each, groups={"size": "a"}) for each in predictions(["3"] * 40, [None] * 40)]
    cell = ScoredPredictions(Estimation(), rows, seed=1)
    for name in ("mae[mean size]", "mae[max size]"):
        assert cell.measures(only=(), sliced=(name,))[name].n == 0


def test_a_slice_declares_what_its_metric_declares_but_is_no_interim_look() -> None:
    of_group, mean = (scored().statistic(name) for name in ("accuracy[subject=bio]", "accuracy[mean subject]"))
    assert of_group is not None
    assert mean is not None
    assert (of_group.n, of_group.better, of_group.bounds, of_group.comparison.test) == (
        20,
        "high",
        (0.0, 1.0),
        "mcnemar",
    )
    assert (mean.n, mean.better, mean.bounds, mean.comparison.test) == (100, "high", (0.0, 1.0), "bootstrap")
    assert of_group.interval is not None
    assert mean.interval is not None
    assert (of_group.optional, of_group.interval.sequential, mean.interval.sequential) == (False, False, False)
    assert (of_group.interval.successes, mean.interval.successes) == (5, None)


def test_rows_outside_of_a_slice_contribute_nothing_to_it() -> None:
    of_group, mean = (scored().replicates(name) for name in ("half[subject=bio]", "half[mean subject]"))
    assert of_group is not None
    assert mean is not None
    assert np.isnan(of_group.errors[:80]).all()
    assert of_group.errors[80:] == mean.errors[80:] == tuple(-0.5 * (row % 4 == 1) for row in range(20))
    assert not np.isnan(mean.errors).any()
    assert np.isnan(np.array(of_group.inputs)).sum() == 80
    assert not np.isnan(mean.inputs).any()


def test_a_column_without_groups_has_nothing_to_measure_and_an_unknown_metric_is_not_measured() -> None:
    assert not scored().values(("nothing[mean subject]", "nothing[subject=law]"))
    values = scored().values(("accuracy[mean topic]", "accuracy[topic=law]"))
    assert [each.n for each in values.values()] == [0, 0]
    assert scored().statistic("nothing[subject=law]") is scored().statistic("nothing[mean subject]") is None
    assert scored().groups("topic") == ()
    assert scored().groups("subject") == ("law", "art", "bio")


def test_the_mean_over_unequal_groups_is_less_certain_than_its_resamples() -> None:
    """Five rows of a subject, all right by chance, weigh as much as 85 of another one."""
    grouped = [
        replace(each, groups={"subject": str(max(row - 80, 0) // 5)})
        for row, each in enumerate(predictions("A" * 100, "A" * 80 + "B" * 5 + "A" * 15))
    ]
    metric = "accuracy[mean subject]"
    measure = ScoredPredictions(Subjects("AB"), grouped, seed=1).measures(only=(), sliced=(metric,))[metric]
    assert measure.low < wilson(26, 26)[0]
    assert measure.n == 100


@pytest.mark.parametrize(("small", "marked"), [(9, True), (10, False)])
def test_a_mean_over_groups_of_a_metric_that_is_no_proportion_needs_ten_samples_of_each(
    small: int, *, marked: bool
) -> None:
    grouped = [
        replace(each, groups={"subject": "art" if row < small else "law"})
        for row, each in enumerate(predictions("AB" * 50, "ABBA" * 25))
    ]
    metrics = ("f1_macro[mean subject]", "accuracy[mean subject]")
    measures = ScoredPredictions(Subjects("AB"), grouped, seed=1).measures(only=(), sliced=metrics)
    assert ["a group has under 10 samples" in measures[name].note for name in metrics] == [marked, False]
