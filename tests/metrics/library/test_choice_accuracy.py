from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, top_k_accuracy_score

from pytest_puma.core import Sample
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics import score as score_all
from pytest_puma.metrics.library import LIBRARY
from tests.factories import Triage, prediction
from tests.metrics.library.choices import likelihoods, log_probabilities, question, questions_and_totals, score, scored

CONVENTIONS = ("accuracy_chars", "accuracy_bytes", "accuracy_tokens", "accuracy_uncond")
#: "no" is the likeliest text; a longer one is likelier by character, "日本" by character but not by byte.
TEXTS = ("no", "perhaps so", "日本")


@pytest.mark.parametrize(
    ("name", "totals", "tokens", "best"),
    [
        ("accuracy_chars", (-4.0, -10.0, -4.1), (1, 1, 1), 1),
        ("accuracy_chars", (-4.0, -30.0, -3.9), (1, 1, 1), 2),
        ("accuracy_bytes", (-4.0, -30.0, -3.9), (1, 1, 1), 2),
        ("accuracy_bytes", (-4.0, -30.0, -11.9), (1, 1, 1), 2),
        ("accuracy_chars", (-4.0, -30.0, -11.9), (1, 1, 1), 0),
        ("accuracy_tokens", (-4.0, -10.0, -9.0), (1, 3, 2), 1),
        ("accuracy_tokens", (-4.0, -13.0, -9.0), (1, 3, 2), 0),
    ],
)
def test_the_length_that_counts_decides(
    name: str, totals: tuple[float, ...], tokens: tuple[int, ...], best: int
) -> None:
    answered = prediction("q", likelihoods=likelihoods(totals, tokens))
    values = [score(name, question(TEXTS, [right]), answered) for right in range(3)]
    assert values == [float(right == best) for right in range(3)]


@pytest.mark.parametrize(
    ("alone", "best"), [((-1.0, -1.0), 0), ((-1.0, -9.0), 1), ((-2.0, -5.5), 1), ((-2.0, -3.0), 0)]
)
def test_the_gain_by_the_question_counts_without_the_probability_of_the_text_itself(
    alone: tuple[float, float], best: int
) -> None:
    answered = scored((-3.0, -6.0), unconditional=likelihoods(alone))
    values = [score("accuracy_uncond", question(("a", "b"), [right]), answered) for right in range(2)]
    assert values == [float(right == best) for right in range(2)]


@given(questions_and_totals(), st.data())
def test_accuracies_equal_the_formulas_of_lm_evaluation_harness(
    drawn: tuple[Sample, list[float]], data: st.DataObject
) -> None:
    sample, totals = drawn
    texts = [choice.text for choice in sample.choices]
    right = [place for place, choice in enumerate(sample.choices) if choice.right]
    alone = data.draw(st.lists(log_probabilities, min_size=len(texts), max_size=len(texts)))
    answered = scored(totals, unconditional=likelihoods(alone))
    sums, before = np.array(totals), np.array(alone)
    expected = {
        "accuracy_chars": np.argmax(sums / np.array([len(text) for text in texts])),
        "accuracy_bytes": np.argmax(sums / np.array([len(text.encode()) for text in texts])),
        "accuracy_uncond": np.argmax(sums - before),
    }
    for name, best in expected.items():
        assert score(name, sample, answered) == float(best in right), name


def test_the_accuracy_of_many_questions_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(7)
    texts = ("a", "bcd", "\u65e5\u672c", "e f g h")
    right = random.integers(0, 4, 300)
    totals = random.normal(-20, 8, (300, 4))
    asked_samples = [replace(question(texts, [int(place)]), id=f"q{at}") for at, place in enumerate(right)]
    answered = [replace(scored(row), sample_id=each.id) for each, row in zip(asked_samples, totals, strict=True)]
    metrics = [LIBRARY[name] for name in ("accuracy_chars", "accuracy_bytes")]
    with_scores = score_all(Triage(), asked_samples, answered, metrics)
    measures = ScoredPredictions(Triage(), with_scores, seed=1, metrics=metrics).measures()
    for name, lengths in (("accuracy_chars", [1, 3, 2, 7]), ("accuracy_bytes", [1, 3, 6, 7])):
        expected = accuracy_score(right, np.argmax(totals / lengths, axis=1))
        assert measures[name].value == pytest.approx(expected)
        assert expected == top_k_accuracy_score(right, totals / lengths, k=1)


@pytest.mark.parametrize("name", ["accuracy_chars", "accuracy_bytes"])
def test_the_length_of_a_choice_that_only_stands_before_the_scored_text_plays_no_part(name: str) -> None:
    # "The ... was too large": the ending is scored after each choice, so that all lengths are the same.
    sample, totals = question(("cup", "very large suitcase"), [0]), (-5.0, -6.0)
    of_choices = scored(totals, continuations=((" cup", " very large suitcase"),))
    assert score(name, sample, of_choices) == 0
    of_endings = scored(totals, continuations=((" was too large.",), (" was too large.",)))
    assert score(name, sample, of_endings) == 1


@pytest.mark.parametrize("name", ["accuracy_chars", "accuracy_bytes", "accuracy_tokens"])
def test_the_first_of_equally_good_choices_counts(name: str) -> None:
    assert score(name, question(("ab", "cd"), [0]), scored((-2.0, -2.0))) == 1
    assert score(name, question(("ab", "cd"), [1]), scored((-2.0, -2.0))) == 0


def test_any_of_several_right_choices_is_right() -> None:
    assert score("accuracy_chars", question(("a", "b", "c"), [1, 2]), scored((-3.0, -9.0, -1.0))) == 1


def test_an_empty_choice_and_a_lone_surrogate_have_a_length() -> None:
    answered = scored((-1.0, -0.5))
    for name in ("accuracy_chars", "accuracy_bytes", "accuracy_tokens"):
        assert score(name, question(("", "\ud800"), [1]), answered) == 1, name


def test_a_likelihood_for_each_choice_is_needed() -> None:
    with pytest.raises(ValueError, match="zip"):
        score("accuracy_chars", question(("a", "b", "c")), scored((-1.0, -2.0)))


@pytest.mark.parametrize("name", CONVENTIONS)
def test_accuracies_are_shares_of_choice_tasks_that_have_likelihoods(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.per, metric.pool) == ("high", (0.0, 1.0), "trial", None)
    assert metric.kinds == {"choice"}
    assert metric.needs == {"likelihoods"} | ({"unconditional"} if name == "accuracy_uncond" else set())
