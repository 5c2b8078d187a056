from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from pytest_puma.core import Sample, SettingsError
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction
from tests.metrics.library.choices import question, questions_and_totals, score, scored

TEXTS = ("desk", "house", "I do not know.")


@given(questions_and_totals())
def test_masses_and_confidences_equal_the_usual_formulas(drawn: tuple[Sample, list[float]]) -> None:
    sample, totals = drawn
    right = np.array([choice.right for choice in sample.choices])
    lengths = np.array([len(choice.text) for choice in sample.choices])
    for suffix, values in (("", np.array(totals)), ("_chars", np.array(totals) / lengths)):
        shares = softmax(values)
        mass = score(f"probability_mass{suffix}", sample, scored(totals))
        assert mass == pytest.approx(shares[right].sum())
        assert 0 <= mass <= 1
        best = np.argmax(shares)
        expected = shares[best] if right[best] else 0.0
        assert score(f"confidence_weighted{suffix}", sample, scored(totals)) == pytest.approx(expected)


@pytest.mark.parametrize("suffix", ["", "_chars"])
def test_likelihoods_whose_exponentials_are_zero_have_a_finite_mass(suffix: str) -> None:
    sample = question(("a", "b"))
    mass = score(f"probability_mass{suffix}", sample, scored((-800.0, -810.0)))
    assert mass == pytest.approx(1 / (1 + math.exp(-10)))


def test_the_end_of_turn_plays_no_part() -> None:
    # The second choice would lose 50 nats by it.
    assert score("probability_mass", question(("a", "b"), [1]), scored((-2.0, -1.0))) == pytest.approx(
        1 / (1 + math.exp(-1))
    )


@pytest.mark.parametrize(
    ("shares", "idk", "value"),
    [
        ((0.7, 0.1, 0.2), 2, 0.48),
        ((0.1, 0.7, 0.2), 2, -0.48),
        ((1.0, 0.0, 0.0), 2, 1.0),
        ((0.0, 1.0, 0.0), 2, -1.0),
        ((0.0, 0.0, 1.0), 2, 0.0),
        ((0.7, 0.2, 0.1), 1, 0.48),
    ],
)
def test_doubt_is_the_choice_with_the_flag_wherever_it_stands(
    shares: tuple[float, ...], idk: int, value: float
) -> None:
    sample = question(TEXTS, idk=idk)
    letters = prediction("q", probabilities=dict(zip(TEXTS, shares, strict=True)))
    assert score("distributional_correctness", sample, letters) == pytest.approx(value)
    if all(shares):
        texts = scored(map(math.log, shares))
        assert score("distributional_correctness", sample, texts) == pytest.approx(value)


def test_the_score_by_characters_divides_likelihoods_first() -> None:
    sample = question(("ab", "abcd", "?"), idk=2)
    totals = [2 * math.log(0.7), 4 * math.log(0.1), math.log(0.2)]
    assert score("distributional_correctness_chars", sample, scored(totals)) == pytest.approx(0.48)
    # Undivided, the probabilities are .710, .0001 and .290.
    assert score("distributional_correctness", sample, scored(totals)) == pytest.approx(0.504, abs=0.001)


@pytest.mark.parametrize("name", ["probability_mass", "confidence_weighted", "distributional_correctness"])
def test_probabilities_of_letters_serve_where_texts_have_no_likelihoods(name: str) -> None:
    sample = question(TEXTS, idk=2)
    letters = prediction("q", probabilities=dict(zip(TEXTS, (0.5, 0.3, 0.2), strict=True)))
    expected = {"probability_mass": 0.5, "confidence_weighted": 0.5, "distributional_correctness": 0.16}
    assert score(name, sample, letters) == pytest.approx(expected[name])
    assert score(f"{name}_chars", sample, letters) is None
    assert score(name, sample, prediction("q")) is None


def test_likelihoods_of_texts_come_before_probabilities() -> None:
    answered = scored((-1.0, -1.0), probabilities={"a": 0.9, "b": 0.1})
    assert score("probability_mass", question(("a", "b")), answered) == pytest.approx(0.5)


def test_a_confident_wrong_answer_has_no_weight() -> None:
    assert score("confidence_weighted", question(("a", "b"), [1]), scored((-0.1, -3.0))) == 0


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_correctness_stays_in_its_bounds(parts: list[int]) -> None:
    shares = [part / sum(parts) for part in parts]
    letters = prediction("q", probabilities=dict(zip(TEXTS, shares, strict=True)))
    assert -1 <= score("distributional_correctness", question(TEXTS, idk=2), letters) <= 1


@pytest.mark.parametrize(
    ("answer", "value"), [("desk", 1), ("house", -1), ("I do not know.", 0), (None, -1), ("i do not know.", -1)]
)
@pytest.mark.parametrize("idk_first", [False, True])
def test_doubt_is_better_than_a_wrong_answer_or_none(answer: str | None, value: int, *, idk_first: bool) -> None:
    texts = TEXTS[::-1] if idk_first else TEXTS
    sample = question(texts, [texts.index("desk")], idk=texts.index("I do not know."))
    assert score("ternary", sample, prediction("q", answer=answer)) == value


@pytest.mark.parametrize("name", ["ternary", "distributional_correctness"])
def test_scores_of_doubt_need_a_choice_that_expresses_it(name: str) -> None:
    with pytest.raises(
        SettingsError, match=rf"{name}: no choice of sample 'q' stands for .* set `idk` of the scenario"
    ):
        score(name, question(("a", "b")), scored((-1.0, -2.0)))


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("probability_mass", (0, 1)),
        ("probability_mass_chars", (0, 1)),
        ("confidence_weighted", (0, 1)),
        ("confidence_weighted_chars", (0, 1)),
        ("distributional_correctness", (-1, 1)),
        ("distributional_correctness_chars", (-1, 1)),
        ("ternary", (-1, 1)),
    ],
)
def test_high_values_within_these_bounds_are_better(name: str, bounds: tuple[float, float]) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.per) == ("high", bounds, "trial")
    assert metric.kinds == {"choice"}
