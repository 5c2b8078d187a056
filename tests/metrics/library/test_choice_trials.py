from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Prediction
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics import score as score_all
from pytest_puma.metrics.library import LIBRARY
from tests.factories import Triage, prediction, sample
from tests.metrics.library.choices import score

answers_of_trials = st.lists(st.sampled_from(["A", "B", "C", None]), min_size=1, max_size=9)


def trials(answers: Sequence[str | None], sample_id: str = "q", references: tuple[str, ...] = ()) -> list[Prediction]:
    return [
        prediction(sample_id, trial=place, answer=answer, units=(sample_id,), references=references)
        for place, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("answers", "majority"),
    [("A", 1), ("B", 0), ("AB", 0), ("AAB", 1), ("ABB", 0), ("AABB", 0), ("AAAB", 1), ("AABC", 0), ((None, "A"), 0)],
)
def test_a_question_is_right_if_more_than_half_of_its_trials_are(answers: Sequence[str | None], majority: int) -> None:
    assert score("majority_accuracy", sample("q"), trials(answers)) == majority


def test_a_parse_failure_is_a_wrong_trial_of_its_own_question() -> None:
    answered = [*trials((None, None, "B"), "q1"), *trials("AAA", "q2")]
    metrics = [LIBRARY["majority_accuracy"], LIBRARY["consistency"]]
    with_scores = score_all(Triage(), [sample("q1"), sample("q2")], answered, metrics)
    measures = ScoredPredictions(Triage(), with_scores, seed=1, metrics=metrics).measures()
    assert measures["accuracy"].value == 3 / 6
    assert measures["parse_failure_rate"].value == 2 / 6
    assert (measures["majority_accuracy"].value, measures["majority_accuracy"].n) == (0.5, 2)
    assert (measures["consistency"].value, measures["consistency"].n) == (0.5, 2)


def test_each_of_several_right_answers_counts() -> None:
    assert score("majority_accuracy", sample("q"), trials("BAC", references=("A", "B"))) == 1


@pytest.mark.parametrize(
    ("answers", "value"),
    [("AA", 1), ("AB", 0), ("AAB", 1 / 3), ("AABB", 1 / 3), ((None, None), 0), (("A", "A", None), 1 / 3)],
)
def test_consistency_is_the_share_of_equal_pairs(answers: Sequence[str | None], value: float) -> None:
    assert score("consistency", sample("q"), trials(answers)) == pytest.approx(value)


def test_a_single_trial_shows_no_consistency() -> None:
    assert score("consistency", sample("q"), trials("A")) is None


@given(answers_of_trials)
def test_both_equal_their_definitions_by_counting(answers: list[str | None]) -> None:
    answered = trials(answers)
    assert score("majority_accuracy", sample("q"), answered) == float(answers.count("A") > len(answers) / 2)
    pairs = list(combinations(answers, 2))
    equal = sum(one is not None and one == other for one, other in pairs)
    assert score("consistency", sample("q"), answered) == (pytest.approx(equal / len(pairs)) if pairs else None)


@pytest.mark.parametrize("name", ["majority_accuracy", "consistency"])
def test_questions_not_trials_are_scored(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.per, metric.better, metric.bounds) == ("sample", "high", (0.0, 1.0))
    assert metric.kinds == {"choice", "classification"}
