"""The predictions of a cell: their errors, their resamples, and the measures that are requested of them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Metric, Prediction
from pytest_puma.metrics import ScoredPredictions, score
from pytest_puma.stats.intervals import wilson
from tests.factories import Estimation, Triage, prediction, predictions, sample, scored
from tests.metrics.texts import scored_texts, texts


def in_groups(*sizes: int, trials: int = 1) -> ScoredPredictions:
    """As many samples of each group, named 0, 1 and so on."""
    rows = [
        prediction(f"{group}-{row}", trial=trial, units=(f"{group}-{row}",), groups={"group": str(group)})
        for group, size in enumerate(sizes)
        for row in range(size)
        for trial in range(trials)
    ]
    return scored(Triage("AB"), rows)


def sizes_in_resamples(rows: ScoredPredictions, group: str) -> set[int]:
    columns = [row for row, each in enumerate(rows.predictions) if each.groups["group"] == group]
    return set(rows.resamples.weights[:, columns].sum(axis=1).tolist())


def test_every_resample_has_as_many_samples_of_each_group_as_the_data() -> None:
    assert sizes_in_resamples(in_groups(10, 30), "0") == {10}
    assert sizes_in_resamples(in_groups(10, 30, trials=2), "0") == {20}


@pytest.mark.parametrize(("sizes", "trials"), [((9, 30), 1), ((5, 30), 2)])
def test_groups_of_fewer_than_ten_samples_are_resampled_with_the_others(sizes: tuple[int, int], trials: int) -> None:
    assert len(sizes_in_resamples(in_groups(*sizes, trials=trials), "0")) > 5


def test_the_error_of_a_text_is_its_distance_from_the_best_score() -> None:
    answered = scored_texts(texts([0.75, 0.0, 1.0]))
    assert answered.graded
    assert answered.errors.tolist() == [0.25, 1.0, 0.0]


def test_a_text_without_a_score_is_the_worst_one() -> None:
    between, binary = scored_texts(texts([0.75, None, 1.0])), scored_texts(texts([0.0, None, 1.0]))
    assert (between.graded, binary.graded) == (True, False)
    assert between.errors[1] > 1e299
    assert binary.errors.tolist() == [1.0, 1.0, 0.0]


def test_a_parse_failure_is_the_worst_answer() -> None:
    labels, numbers = (
        scored(Triage(), predictions("AB", ["A", None])),
        scored(Estimation(), predictions("34", ["5", None])),
    )
    assert labels.errors.tolist() == [0.0, 1.0]
    assert numbers.errors[0] == 2
    assert numbers.errors[1] > 1e299


def test_a_number_is_graded_even_if_all_errors_are_0_or_1() -> None:
    assert scored(Estimation(), predictions("34", "44")).graded
    assert not scored(Triage(), predictions("AB", "AA")).graded


def test_only_the_named_metrics_are_measured_the_primary_one_first() -> None:
    answered = scored(Triage("AB"), predictions("AB" * 20, "AA" * 20))
    assert list(answered.measures(only=("parse_failure_rate", "f1_macro", "nothing"))) == [
        "f1_macro",
        "parse_failure_rate",
    ]
    assert list(answered.measures(only=())) == []
    assert list(answered.values(("accuracy", "nothing", "ece"))) == ["accuracy"]


def test_values_are_those_of_the_measures_without_an_interval() -> None:
    answered = scored(Estimation(), predictions("345" * 9, "444" * 9))
    bare, whole = answered.values(["mae"])["mae"], answered.measures()["mae"]
    assert (bare.value, answered.value("mae"), whole.value) == pytest.approx((2 / 3,) * 3)
    assert math.isnan(bare.low)
    assert not math.isnan(whole.low)


def test_a_value_of_an_unknown_metric_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="nothing"):
        scored(Triage("AB"), predictions("A", "A")).value("nothing")


def test_level_and_the_share_left_are_those_of_the_intervals() -> None:
    answered = scored(Triage("AB"), predictions("AB" * 20, "AA" * 20))
    wide, part = answered.measures(level=0.99)["accuracy"], answered.measures(left=0.5)["accuracy"]
    assert (wide.low, wide.high, wide.level) == (*wilson(20, 40, 0.99), 0.99)
    assert (part.low, part.high) == wilson(20, 40, left=0.5)


def test_cells_with_the_same_samples_and_units_can_be_compared() -> None:
    def digest(rows: list[Prediction]) -> str:
        made = scored(Triage("AB"), rows).replicates("accuracy")
        assert made is not None
        return made.samples

    rows = [prediction("a", units=("u",)), prediction("b", trial=1, units=("u",))]
    other = [replace(each, gold="B", answer=None) for each in rows]
    assert digest(rows) == digest(other)
    for row, field in ((0, {"sample_id": "c"}), (0, {"units": ("v",)}), (1, {"trial": 2}), (1, {"trial": 0})):
        changed = [replace(each, **field) if place == row else each for place, each in enumerate(rows)]
        assert digest(changed) != digest(rows), field


def test_replicates_have_the_answers_and_what_the_metric_declares() -> None:
    made = scored(Estimation(), predictions("345", ["4", "4", None])).replicates("mae")
    assert made is not None
    assert (made.answers, made.inputs[:2]) == (("4", "4", None), ((1.0,), (0.0,)))
    assert (made.value, len(made.values), made.seed) == (0.5, 2000, 1)
    assert (made.better, made.test, made.rebuild, made.graded, made.scored) == (
        "low",
        "permutation",
        "mean",
        True,
        False,
    )
    assert (made.bounds, made.units, made.questions) == ((), (), ())


def test_replicates_have_units_and_questions_if_rows_share_them() -> None:
    rows = [prediction("a", trial=trial, units=("a",)) for trial in range(2)] + [prediction("b", units=("b",))]
    made = scored(Triage("AB"), rows).replicates("accuracy")
    assert made is not None
    assert (made.units, made.questions) == ((("a",), ("a",), ("b",)), (0, 0, 1))
    assert (made.bounds, made.graded) == ((0.0, 1.0), False)


@pytest.mark.parametrize(("scores", "graded"), [((0.0, 1.0), False), ((0.0, 0.5), True)])
def test_scores_are_graded_if_they_are_not_just_right_or_wrong(scores: tuple[float, float], *, graded: bool) -> None:
    column = Metric(name="m", score=lambda _, each: scores[each.answer == "A"])
    with_scores = score(Triage("AB"), [sample("s0"), sample("s1")], predictions("AA", "AB"), [column])
    made = ScoredPredictions(Triage("AB"), with_scores, seed=1, metrics=[column]).replicates("m")
    assert made is not None
    assert (made.graded, made.scored) == (graded, True)
    assert made.errors == (-scores[1], -scores[0])


def test_what_predictions_do_not_give_has_no_replicates() -> None:
    answered = scored(Triage("AB"), predictions("AB", "AB"))
    assert answered.replicates("ece") is None
    assert answered.replicates("nothing") is None
    assert answered.statistic("nothing") is None


def test_own_metrics_of_a_cell_are_known_by_name() -> None:
    answered = scored(Triage("AB", metrics={"mine": len}), predictions("AB", "AB"))
    assert set(answered.own()) == {"mine"}
    assert len(answered) == 2
    assert answered.value("mine") == 2
