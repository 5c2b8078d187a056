"""Agreement of a judge with people: kappa, its labels, and the reply that they are about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from pytest_puma.core import Metric, SettingsError
from pytest_puma.judges import JUDGED, grades, rubric
from pytest_puma.judges.agreement import is_compared, kappa
from tests.factories import prediction, sample
from tests.judges.test_rubrics import judged

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(pairs)
def test_kappa_of_grades_is_the_quadratic_one(ratings: list[tuple[int, int]]) -> None:
    people, judge = zip(*ratings, strict=True)
    sums = np.zeros((1, 5, 5))
    for row, column in ratings:
        sums[0, row, column] += 1
    (value,) = kappa((1.0, 2.0, 3.0, 4.0, 5.0), sums.reshape(1, 25))
    if len({*people, *judge}) == 1:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic", labels=range(5)))


@given(pairs)
def test_kappa_of_two_verdicts_is_the_plain_one(ratings: list[tuple[int, int]]) -> None:
    people, judge = [[rating[side] % 2 for rating in ratings] for side in (0, 1)]
    sums = np.zeros((1, 2, 2))
    np.add.at(sums[0], (people, judge), 1)
    (value,) = kappa((1.0, 0.0), sums.reshape(1, 4))
    if len({*people, *judge}) > 1:
        assert value == pytest.approx(cohen_kappa_score(people, judge))


def companion(metric: Metric, name: str) -> Metric:
    (found,) = [one for one in metric.companions if one.name == name]
    return found


POLITE = rubric("polite", {"en": "Is it polite?", "de": "Ist es höflich?"})


@pytest.mark.parametrize(
    ("label", "vector"),
    [("yes", (1, 0, 0, 0)), ("No", (0, 0, 1, 0)), ("ja", (1, 0, 0, 0)), (True, (1, 0, 0, 0)), ("", None), (None, None)],
)
def test_a_label_is_a_verdict_in_any_language(label: Any, vector: tuple[int, ...] | None) -> None:
    agreement = companion(POLITE, "judge.polite.agreement")
    about = sample("s1", fields={"human_label": label})
    assert judged(agreement, about, prediction("s1", raw=("Dear you",)), {"yes": -0.1})[0] == vector
    assert is_compared(POLITE, [about]) == (vector is not None)


def test_a_label_of_another_word_is_an_error() -> None:
    about = sample("s1", fields={"human_label": "maybe"})
    message = r"sample 's1' has the label 'maybe' for the rubric 'polite'; expected one of 'yes, no' or 'ja, nein'"
    with pytest.raises(SettingsError, match=message):
        judged(companion(POLITE, "judge.polite.agreement"), about, prediction("s1", raw=("Dear you",)), {})


def test_a_column_of_the_rubric_comes_before_the_common_one() -> None:
    style = rubric("style", "How good?", scale=grades(1, 3), shows=("reply",))
    about = sample("s1", fields={"human_label": "yes", "human_label_style": 3.0})
    value, _ = judged(companion(style, "judge.style.agreement"), about, prediction("s1", raw=("Hi",)), {"2": -0.1})
    assert value == (0, 0, 0, 0, 0, 0, 0, 1, 0)


def test_the_judge_is_asked_about_the_reply_that_people_read() -> None:
    about = sample("s1", fields={"human_label": "no", "human_reply": "Go away"})
    agreement = companion(POLITE, "judge.polite.agreement")
    _, requests = judged(agreement, about, prediction("s1", raw=("Dear you",)), {"no": -0.1})
    assert "> Go away" in requests[0].prompt.messages[1].content
    assert judged(agreement, about, prediction("s1", trial=1, raw=("Dear you",)), {}) == (None, []), "once is enough"


def test_each_part_has_its_own_agreement() -> None:
    agreement = companion(JUDGED["judge.instruction"], "judge.instruction.harmless.agreement")
    about = sample("s1", fields={"human_label_instruction_harmless": "yes"})
    value, requests = judged(agreement, about, prediction("s1", raw=("Hi",)), {"yes": -0.1})
    assert value == (1, 0, 0, 0)
    assert len(requests) == 2
