from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from pytest_puma.core import Prediction, Scenario
from pytest_puma.metrics import Answers, Pairs, metric_names
from tests.metrics.cells import LABELS, POINTS, Estimation, Triage, measured, predictions

three_of = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None]), st.sampled_from([*LABELS, None])),
    min_size=1,
    max_size=40,
)


def pairs(scenario: Scenario, new: Sequence[Prediction], old: Sequence[Prediction], *, seed: int = 1) -> Pairs:
    return Answers(scenario, new, seed=seed).beside({prediction.sample_id: prediction for prediction in old})


@given(three_of)
@settings(max_examples=30)
def test_a_change_is_the_difference_of_what_each_set_measures(rows: list[tuple[str, str | None, str | None]]) -> None:
    golds, new, old = zip(*rows, strict=True)
    found = pairs(Triage(), predictions(golds, new), predictions(golds, old))
    before, now = measured(Triage(), predictions(golds, old)), measured(Triage(), predictions(golds, new))

    for metric in ("f1_macro", "accuracy", "parse_failure_rate"):
        change = found.change(metric)
        assert change is not None
        assert (change.old, change.new) == pytest.approx((before[metric].value, now[metric].value))
        assert change.value == pytest.approx(now[metric].value - before[metric].value)
        assert change.low <= change.value <= change.high


@given(three_of)
@settings(max_examples=15)
def test_the_other_way_round_a_change_has_the_other_sign(rows: list[tuple[str, str | None, str | None]]) -> None:
    golds, new, old = zip(*rows, strict=True)
    there = pairs(Triage(), predictions(golds, new), predictions(golds, old)).change("f1_macro")
    back = pairs(Triage(), predictions(golds, old), predictions(golds, new)).change("f1_macro")

    assert there is not None
    assert back is not None
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert (there.worse, there.better) == (back.better, back.worse)


@pytest.mark.parametrize("quotient", [False, True])
def test_the_same_answers_have_not_changed_at_all(quotient: bool) -> None:  # noqa: FBT001
    same = predictions(["1", "2", "3", "5"] * 5, ["2", None, "3", "8"] * 5)
    found = pairs(Estimation(), same, same)

    for metric in metric_names(Estimation()):
        change = found.change(metric, quotient=quotient)
        if change is not None and change.n and not math.isnan(change.new):
            assert (change.value, change.low, change.high) == (quotient,) * 3
            assert (change.worse, change.better) == (0, 0)


def test_the_interval_is_that_of_the_paired_bootstrap_of_scipy() -> None:
    random = np.random.default_rng(3)
    gold, new, old = (list(random.choice(POINTS, 120)) for _ in range(3))
    change = pairs(Estimation(), predictions(gold, new), predictions(gold, old)).change("mae")
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
    found = pairs(Estimation(), predictions(golds, ["8", "2"] * 20), predictions(golds, ["3", "5"] * 20))
    change = found.change("mae", quotient=True)

    assert change is not None
    assert (change.old, change.new, change.value) == pytest.approx((1, 3, 3))
    assert 2 < change.low < 3 < change.high


def test_only_samples_that_both_have_are_compared() -> None:
    new = predictions(["A", "B", "C", "D"], ["A", "B", "A", "A"])
    change = pairs(Triage(), new, predictions(["A", "B"], ["B", "B"])).change("accuracy")

    assert change is not None
    assert (change.n, change.old, change.new, change.worse, change.better) == (2, 0.5, 1.0, 0, 1)


def test_a_corrected_gold_holds_for_both() -> None:
    change = pairs(Triage(), predictions(["B"] * 3, ["B"] * 3), predictions(["A"] * 3, ["A"] * 3)).change("accuracy")

    assert change is not None
    assert (change.old, change.new) == (0, 1)


def test_answers_that_are_numbers_are_farther_off_or_nearer() -> None:
    golds = ["5", "5", "5", "5", "5"]
    found = pairs(
        Estimation(), predictions(golds, ["8", "5", None, "2", "8"]), predictions(golds, ["5", "8", "13", None, "2"])
    )
    change = found.change("mae")

    assert change is not None
    assert change.numbers
    # 8 after 5 and nothing after 13 are farther off; 5 after 8 and 2 after nothing are nearer; 8 and 2 are as far off.
    assert (change.worse, change.better) == (2, 2)


def test_what_one_side_does_not_measure_has_no_change() -> None:
    bare = predictions(["A", "B"], ["A", "B"])
    sure = predictions(["A", "B"], ["A", "B"], [{"A": 1.0}, {"B": 1.0}])

    assert pairs(Triage(), sure, bare).change("ece") is None
    assert pairs(Triage(), bare, sure).change("ece") is None
    assert pairs(Triage(), sure, sure).change("ece") is not None


def test_samples_of_one_unit_are_drawn_together() -> None:
    """Both orders of a pair are one observation: the interval of twice as many rows is no narrower."""
    random = np.random.default_rng(5)
    golds, new, old = (list(random.choice(LABELS, 60)) for _ in range(3))
    once = pairs(Triage(), predictions(golds, new), predictions(golds, old)).change("accuracy")
    twice = [predictions(golds * 2, answers * 2) for answers in (new, old)]
    linked = [
        [
            Prediction(sample_id=each.sample_id, gold=each.gold, answer=each.answer, units=(f"u{row % 60}",))
            for row, each in enumerate(side)
        ]
        for side in twice
    ]
    both = pairs(Triage(), linked[0], linked[1]).change("accuracy")

    assert once is not None
    assert both is not None
    assert both.high - both.low == pytest.approx(once.high - once.low, rel=0.1)
