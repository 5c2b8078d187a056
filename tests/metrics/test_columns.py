"""Metrics as a user would write them: each becomes a statistic with everything that comparisons and gates need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_puma.core import Metric, MetricError, Pool, Prediction, SettingsError, metric
from pytest_puma.metrics import ScoredPredictions, metric_names, pair, score
from tests.factories import Triage, predictions, sample

GOLDS, ANSWERS = "ABCD" * 30, ("ABCD" * 10 + "AABB" * 10 + "DCBA" * 10)


@metric
def right(_: object, prediction: Prediction) -> float:
    return float(prediction.answer == prediction.gold)


@metric(better="low")
def distance(_: object, prediction: Prediction) -> float:
    return abs(ord(prediction.answer or "A") - ord(prediction.gold)) / 3


@metric(better="low", unit="letters", bounds=None)
def offset(_: object, prediction: Prediction) -> float:
    return ord(prediction.answer or "A") - ord(prediction.gold)


@metric(pool=Pool(2, lambda sums: sums[:, 0] / sums[:, 1]))
def pooled(_: object, prediction: Prediction) -> tuple[float, float]:
    return float(prediction.answer == prediction.gold), 1.0 + (prediction.gold == "A")


@metric(per="sample")
def any_right(_: object, trials: Sequence[Prediction]) -> float:
    return float(any(each.answer == each.gold for each in trials))


FIVE = (right, distance, offset, pooled, any_right)


def scored(answers: str = ANSWERS, metrics: Sequence[Metric] = FIVE) -> ScoredPredictions:
    made = predictions(GOLDS, answers)
    with_scores = score(Triage(), [sample(each.sample_id) for each in made], made, metrics)
    return ScoredPredictions(Triage(), with_scores, seed=3, metrics=metrics)


def column(name: str) -> np.ndarray:
    return np.array([each.scores[name] for each in scored().predictions], dtype=np.float64)


@pytest.mark.parametrize("name", ["right", "distance", "offset", "any_right"])
def test_the_value_of_a_column_is_its_mean(name: str) -> None:
    assert scored().measures()[name].value == pytest.approx(column(name).mean())


def test_a_vector_is_summed_before_it_becomes_a_number() -> None:
    sums = column("pooled").sum(axis=0)
    assert scored().measures()["pooled"].value == pytest.approx(sums[0] / sums[1])


@pytest.mark.parametrize(
    ("name", "tolerance"), [("right", 0.02), ("distance", 0.02), ("offset", 0.12), ("pooled", 0.02)]
)
def test_intervals_agree_with_a_bootstrap_of_ones_own(name: str, tolerance: float) -> None:
    rows = column(name)
    rng = np.random.default_rng(0)
    means = [rows[rng.integers(0, len(rows), len(rows))].sum(axis=0) for _ in range(4000)]
    own = [each[0] / each[1] if name == "pooled" else each / len(rows) for each in means]
    low, high = np.percentile(own, [2.5, 97.5])
    measure = scored().measures()[name]
    assert (measure.low, measure.high) == pytest.approx((low, high), abs=tolerance)


def test_direction_unit_and_n_go_into_the_measure() -> None:
    measures = scored().measures()
    assert (measures["offset"].better, measures["offset"].unit, measures["offset"].n) == ("low", "letters", 120)
    assert measures["right"].better == "high"


@pytest.mark.parametrize("name", ["right", "distance", "offset", "pooled", "any_right"])
def test_a_worse_set_of_answers_is_worse_in_the_paired_change(name: str) -> None:
    perfect, broken = scored(GOLDS), scored("B" + GOLDS[1:-1] + "A")
    pairs = pair(broken, {each.key: each for each in perfect.predictions})
    change = pairs.change(name)
    assert change is not None
    low_is_better = name in {"distance", "offset"}
    # The offsets of the two wrong answers cancel in part: +1 for the first, -3 for the last.
    assert (change.worse, change.better) == ((1, 1) if name == "offset" else (2, 0))
    if name != "offset":
        assert (change.value > 0) == low_is_better


def test_columns_say_which_paired_test_is_about_them() -> None:
    tests = {
        name: each.comparison.test for name in (m.name for m in FIVE) if (each := scored().statistic(name)) is not None
    }
    assert tests == {
        "right": "mcnemar",
        "distance": "permutation",
        "offset": "permutation",
        "pooled": "bootstrap",
        "any_right": "mcnemar",
    }


def test_looks_are_valid_for_means_and_not_for_pools() -> None:
    bases = {m.name: each.interval for m in FIVE if (each := scored().statistic(m.name)) is not None}
    sequential = {name for name, basis in bases.items() if basis is not None and basis.sequential}
    assert sequential == {"right", "distance", "offset", "any_right"}


def test_a_score_of_none_is_left_out() -> None:
    only = Metric(name="only", score=lambda _, each: 1.0 if each.gold == "A" else None)
    assert scored(metrics=[only]).measures()["only"].n == 30


def test_a_metric_without_any_score_has_nothing_to_measure() -> None:
    nothing = Metric(name="nothing", score=lambda *_: None)
    vectors = Metric(name="vectors", score=lambda *_: None, pool=Pool(2, lambda sums: sums[..., 0]))
    measures = scored(metrics=[nothing, vectors]).measures()
    assert [(measures[name].n, measures[name].note) for name in ("nothing", "vectors")] == [
        (0, "nothing to measure")
    ] * 2


def test_a_metric_of_likelihoods_is_not_measured_without_any() -> None:
    likely = Metric(name="likely", score=lambda *_: 1.0, needs=frozenset({"likelihoods"}))
    assert "likely" not in scored(metrics=[likely]).measures()


def test_what_does_not_apply_in_one_of_two_sets_is_compared_on_the_others() -> None:
    answered = Metric(name="answered", score=lambda _, each: None if each.answer == "B" else 1.0 * (each.answer == "A"))
    new, old = scored("B" + GOLDS[1:], metrics=[answered]), scored("A" + GOLDS[1:], metrics=[answered])
    change = pair(new, {each.key: each for each in old.predictions}).change("answered")
    assert change is not None
    assert (change.n, change.new_parse_failures, change.value) == (89, 1, 0.0)


def test_a_set_of_needs_and_of_kinds_makes_a_metric_that_can_be_hashed() -> None:
    @metric(needs={"probabilities"}, kinds={"classification"})
    def sure(_: object, prediction: Prediction) -> float:
        return max((prediction.probabilities or {}).values())

    assert (sure.needs, sure.kinds) == (frozenset({"probabilities"}), frozenset({"classification"}))
    assert hash(sure)


def test_probabilities_that_a_metric_needs_are_not_asked_of_predictions_without_them() -> None:
    sure = Metric(
        name="sure", score=lambda _, each: max(each.probabilities.values()), needs=frozenset({"probabilities"})
    )
    assert "sure" not in scored(metrics=[sure]).measures()


@pytest.mark.parametrize("each", [right, offset, pooled], ids=lambda each: each.name)
def test_a_metric_may_have_no_interval(each: Metric) -> None:
    measure = scored(metrics=[replace(each, interval=False)]).measures()[each.name]
    assert (math.isnan(measure.low), math.isnan(measure.high), measure.n) == (True, True, 120)
    assert not math.isnan(scored(metrics=[each]).measures()[each.name].low)


def test_equal_scores_without_bounds_are_marked() -> None:
    constant = Metric(name="constant", score=lambda *_: 7.0, bounds=None)
    measure = scored(metrics=[constant]).measures()["constant"]
    assert measure.value == 7
    assert "all scores are equal" in measure.note


def _fails(_: object, prediction: Prediction) -> float:
    return 1 / (prediction.gold != "B")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            Metric(name="m", score=_fails),
            r"metric 'm' raised ZeroDivisionError on sample 's1': .*\(test_columns.py:\d+\)",
        ),
        (Metric(name="m", score=lambda *_: "x"), "metric 'm' returned 'x' for sample 's0'; expected a number or None"),
        (Metric(name="m", score=lambda *_: math.nan), "returned nan .*expected a finite number, or None"),
        (Metric(name="m", score=lambda *_: 2.0), "returned 2.0 .*expected a number from 0 to 1; set bounds=None"),
        (Metric(name="m", score=lambda *_: 1.0, pool=Pool(2, sum)), "returned 1.0 .*expected a tuple of 2 numbers"),
        (
            Metric(name="m", score=lambda *_: (1.0, 2.0), pool=Pool(2, lambda sums: sums)),
            "metric 'm' returned array.* in its pool; expected an array of ",
        ),
        (
            Metric(name="m", score=lambda *_: (1.0, 2.0), pool=Pool(2, lambda sums: [10**400] * len(sums))),
            "metric 'm' returned array.* in its pool; expected an array of ",
        ),
        (
            Metric(name="m", score=lambda *_: (1.0, 2.0), pool=Pool(2, lambda _: int("x"))),
            "metric 'm' raised ValueError in its pool: invalid literal",
        ),
        (Metric(name="m", score=lambda *_: {"a": 1}, parts=("a", "b")), "expected a value for each part: a, b"),
    ],
)
def test_a_metric_that_goes_wrong_names_itself_and_the_sample(wrong: Metric, message: str) -> None:
    with pytest.raises(MetricError, match=f"(?s){message}"):
        scored(metrics=[wrong]).measures()


def test_parts_are_metrics_of_their_own() -> None:
    parts = Metric(
        name="reply", score=lambda _, each: {"given": 1.0, "right": each.answer == each.gold}, parts=("given", "right")
    )
    measures = scored(metrics=[parts]).measures()
    assert measures["reply.given"].value == 1
    assert measures["reply.right"].value == measures["accuracy"].value


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"beter": "low"}, "@metric does not know beter; did you mean 'better'"),
        ({"better": "more"}, "better is 'more'; expected 'high', 'low', 'neither'"),
        ({"name": "a b"}, "expected a name of letters, digits and any of _ . [+] - only"),
        ({"bounds": (1, 0)}, r"bounds are \(1, 0\); expected \(minimum, maximum\), or None"),
        ({"bounds": 5}, r"bounds are 5; expected \(minimum, maximum\), or None"),
        ({"bounds": "ab"}, "bounds are 'ab'; expected"),
        ({"parts": "valid"}, "parts is 'valid'; expected a tuple of names"),
        ({"pool": sum}, r"pool is <built-in function sum>; expected Pool\(width, combine\), or None for the mean"),
        ({"needs": "probabilities"}, "needs is 'probabilities'; expected a set of any of 'probabilities', 'likeli"),
        ({"kinds": {"complete"}}, "kinds is {'complete'}; expected a set of any of 'classification', 'regression', "),
        ({"per": "cell", "parts": ("a",)}, "is a function of a whole cell; expected neither parts nor a pool"),
    ],
)
def test_a_wrong_declaration_is_refused(declared: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        metric(**declared)(_fails)


def test_a_decorated_function_can_still_be_called() -> None:
    assert right(None, predictions("A", "A")[0]) == 1


def test_a_metric_may_not_take_the_name_of_another() -> None:
    with pytest.raises(SettingsError, match="two metrics are named 'accuracy'"):
        metric_names(Triage(), [Metric(name="accuracy", score=_fails)])
