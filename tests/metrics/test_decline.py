"""The test behind `no_regression`: what counts, and what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm, ttest_1samp

from pytest_puma.core import Decline, Prediction
from pytest_puma.metrics.calibration import refit
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from tests.factories import paired, prediction, predictions
from tests.transcripts import replied

SCENARIO = TriageJiraScenario()
LABELS = SCENARIO.valid_labels()
N = 200


def answered(scores: np.ndarray, *, units: bool = False) -> list[Prediction]:
    """Predictions whose answers are the most probable labels; the golds come from other chance."""
    random = np.random.default_rng(5)
    golds = [LABELS[random.choice(4, p=row)] for row in shares(skilled())]
    return [
        prediction(
            f"s{number}",
            gold=gold,
            answer=LABELS[int(row.argmax())],
            probabilities=dict(zip(LABELS, row.tolist(), strict=True)),
            finish="scored",
            units=(f"u{number // 10}",) if units else (f"s{number}",),
        )
        for number, (gold, row) in enumerate(zip(golds, shares(scores), strict=True))
    ]


def shares(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def skilled() -> np.ndarray:
    return np.random.default_rng(3).normal(0, 2, (N, 4))


def declined(new: list[Prediction], old: list[Prediction]) -> Decline:
    return paired(SCENARIO, new, old).decline()


def test_probabilities_find_what_answers_alone_do_not() -> None:
    noise = np.random.default_rng(8).normal(0, 0.9, (N, 4))
    result = declined(answered(skilled() + noise), answered(skilled()))
    assert set(result.tests) == {"mcnemar_mid_p", "brier"}
    assert result.is_regression
    assert result.p < result.tests["mcnemar_mid_p"]
    assert result.loss is not None
    assert result.loss > 0.02


def test_the_same_answers_and_another_temperature_are_no_regression() -> None:
    again = declined(answered(skilled()), answered(skilled()))
    assert (again.same, again.is_regression) == (True, False)
    flat = declined(answered(0.6 * skilled()), answered(skilled()))
    assert (flat.same, flat.is_regression, flat.alone) == (False, False, "")
    assert flat.p > 0.3


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda each: replace(each, probabilities=None), "the baseline did not score the labels"),
        (lambda each: replied(each, finish="stop"), "the baseline did not score the labels"),
        (lambda each: replace(each, probabilities={"Major": 1.0}), "the baseline scored other labels"),
        (lambda each: replace(each, answer="Major"), "the answers of the baseline are not its most probable labels"),
        (
            lambda each: replace(
                each, answer=LABELS[0], probabilities=dict(zip(LABELS, (0.28, 0.24, 0.24, 0.24), strict=True))
            ),
            "the probabilities of the baseline have almost no skill (Brier skill score",
        ),
    ],
)
def test_where_probabilities_do_not_tell_the_answers_count_alone(spoil: object, why: str) -> None:
    old = [spoil(each) for each in answered(skilled())]  # type: ignore[operator]
    result = declined(answered(skilled()), old)
    assert result.alone.startswith(why)
    assert (set(result.tests), result.loss, result.p) == ({"mcnemar_mid_p"}, None, result.tests["mcnemar_mid_p"])


def test_rows_that_share_units_count_for_less() -> None:
    noise = np.random.default_rng(8).normal(0, 0.9, (N, 4))
    apart = declined(answered(skilled() + noise), answered(skilled()))
    together = declined(answered(skilled() + noise, units=True), answered(skilled(), units=True))
    assert together.tests["permutation"] > apart.tests["mcnemar_mid_p"]
    assert together.tests["brier"] != apart.tests["brier"]


def test_of_numbers_errors_and_parse_failures_are_tested() -> None:
    scenario, random = EstimationTawosScenario(), np.random.default_rng(2)
    golds = random.choice([1, 2, 3, 5, 8], 120)

    def to_points(answers: list[str | None]) -> list[Prediction]:
        return predictions([str(gold) for gold in golds], answers)

    old = to_points([str(gold + 1) for gold in golds])
    worse = to_points([str(gold + 1 + step) for gold, step in zip(golds, random.choice([0, 0, 1], 120), strict=True)])
    silent = to_points([None if row % 10 == 0 else each.answer for row, each in enumerate(old)])
    result = {}
    for name, new in {
        "again": old,
        "worse": worse,
        "silent": silent,
        "better": to_points([str(gold) for gold in golds]),
    }.items():
        result[name] = paired(scenario, new, old).decline()
    assert {name: each.is_regression for name, each in result.items()} == {
        "again": False,
        "worse": True,
        "silent": True,
        "better": False,
    }
    assert result["silent"].tests["permutation"] == 1.0
    assert result["again"].same


def test_groups_of_rows_without_a_change_have_the_p_value_of_a_coin() -> None:
    again = declined(answered(skilled(), units=True), answered(skilled(), units=True))
    assert again.tests["permutation"] == 0.5


@pytest.mark.parametrize(("scored", "counts"), [(190, True), (189, False)])
def test_probabilities_count_if_19_of_20_answers_have_them(scored: int, *, counts: bool) -> None:
    old = [each if row < scored else replace(each, probabilities=None) for row, each in enumerate(answered(skilled()))]
    assert ("brier" in declined(answered(skilled()), old).tests) == counts


@pytest.mark.parametrize(("most_probable", "counts"), [(190, True), (189, False)])
def test_probabilities_count_if_19_of_20_answers_are_the_most_probable_label(
    most_probable: int, *, counts: bool
) -> None:
    old = [
        each if row < most_probable else replace(each, answer=LABELS[LABELS.index(str(each.answer)) - 1])
        for row, each in enumerate(answered(skilled()))
    ]
    assert ("brier" in declined(answered(skilled()), old).tests) == counts


def test_the_spread_of_a_decline_is_that_of_the_changes_of_its_losses() -> None:
    golds = ["5"] * 40
    worse = ["8"] * 10 + ["6"] * 10 + ["5"] * 20
    numbers = paired(EstimationTawosScenario(), predictions(golds, worse), predictions(golds, golds)).decline()
    rises = np.array([3.0] * 10 + [1.0] * 10 + [0.0] * 20)
    spread = numbers.spread
    assert (spread.n, spread.moved, spread.size, spread.width) == (40, rises.mean(), (rises**2).sum() / rises.sum(), 0)
    assert (numbers.n, numbers.worse, numbers.better) == (40, 20, 0)

    golds = [LABELS[0]] * 30
    labels = paired(SCENARIO, predictions(golds, [LABELS[1]] * 6 + golds[6:]), predictions(golds, golds)).decline()
    spread = labels.spread
    assert (spread.n, spread.moved, spread.size, spread.unseen, spread.width) == pytest.approx((30, 0.2, 1, 1, 1))
    assert (labels.worse, labels.better, labels.p) == (6, 0, 0.5**7)


@pytest.mark.parametrize("scenario", [SCENARIO, EstimationTawosScenario()])
def test_a_single_changed_answer_is_no_regression(
    scenario: TriageJiraScenario | EstimationTawosScenario,
) -> None:
    right, wrong = scenario.valid_labels()[:2]
    result = paired(scenario, predictions([right], [wrong]), predictions([right], [right])).decline()
    assert (result.n, result.worse, result.spread.n, result.is_regression) == (1, 1, 1, False)


def test_the_p_value_is_stouffers_sum_of_the_exact_test_and_students_test() -> None:
    """The rise of the refitted Brier score is compared with the tolerance of 0.005; the correlation is 0.7."""
    noise = np.random.default_rng(8).normal(0, 0.5, (N, 4))
    new, old = answered(skilled() + noise), answered(skilled())
    result = declined(new, old)

    golds = np.array([LABELS.index(each.gold) for each in new])
    losses = [
        refit(np.array([[(each.probabilities or {})[label] for label in LABELS] for each in side]), golds).losses
        for side in (new, old)
    ]
    expected = ttest_1samp(losses[0] - losses[1], 0.005, alternative="greater").pvalue
    assert result.loss == pytest.approx(np.mean(losses[0] - losses[1]))
    assert result.tests["brier"] == pytest.approx(expected)
    assert result.p == pytest.approx(norm.cdf(norm.ppf([*result.tests.values()]).sum() / np.sqrt(2 + 2 * 0.7)))
    assert result.tests["mcnemar_mid_p"] == pytest.approx(
        binom.sf(result.worse, result.worse + result.better, 0.5)
        + binom.pmf(result.worse, result.worse + result.better, 0.5) / 2
    )


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_samples_with_probabilities_on_one_side_only_are_left_out_of_the_brier_score(side: int, *, units: bool) -> None:
    noise = np.random.default_rng(8).normal(0, 0.9, (N, 4))
    sets = [answered(skilled() + noise, units=units), answered(skilled(), units=units)]
    part = [each[10:] for each in sets]
    sets[side] = [replace(each, probabilities=None) if row < 10 else each for row, each in enumerate(sets[side])]

    result, expected = declined(*sets), declined(*part)
    assert result.loss == pytest.approx(expected.loss)
    assert result.tests["brier"] == pytest.approx(expected.tests["brier"])


def test_probabilities_that_no_temperature_fits_do_not_count() -> None:
    flat, right = answered(0.2 * skilled()), answered(skilled())
    for new, old in ((flat, right), (right, flat)):
        assert declined(new, old).alone == "no temperature fits the probabilities"


@pytest.mark.parametrize(("factor", "same"), [(1 + 5e-6, True), (1.001, False)])
def test_probabilities_that_differ_by_the_digits_of_a_baseline_are_the_same(factor: float, *, same: bool) -> None:
    kept = [
        replace(each, probabilities={label: share * factor for label, share in (each.probabilities or {}).items()})
        for each in answered(skilled())
    ]
    assert declined(answered(skilled()), kept).same == same
    other = [replace(each, answer=None) if row == 0 else each for row, each in enumerate(kept)]
    assert not declined(answered(skilled()), other).same
