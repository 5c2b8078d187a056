"""`pass_at_K` and `pass_all_K`: of the trials of a sample, one of K or all of K are right."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Metric
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.metrics import score as score_all
from pytest_puma.metrics.library.repeated import of_family, trials_needed
from tests.factories import Triage, prediction, sample


def member(name: str) -> Metric:
    found = of_family(name)
    assert found is not None
    return found


def value(name: str, right: list[bool | None]) -> Any:
    """The value of a sample whose trials are right, wrong or unread."""
    answers = {True: "A", False: "B", None: None}
    trials = [prediction("q", trial=index, gold="A", answer=answers[it]) for index, it in enumerate(right)]
    scored = score_all(Triage(), [sample("q", gold="A")], trials, [member(name)])
    assert all(trial.scores[name] is None for trial in scored[1:]), "the first trial stands for the sample"
    return scored[0].scores[name]


@given(right=st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=7), data=st.data())
def test_they_are_the_shares_of_all_choices_of_k_trials(right: list[bool | None], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(right)))
    chosen = list(combinations([it is True for it in right], k))
    assert value(f"pass_at_{k}", right) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert value(f"pass_all_{k}", right) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_a_known_value() -> None:
    assert value("pass_at_2", [True, False, False]) == pytest.approx(2 / 3)
    assert value("pass_at_1", [True, False, False]) == value("pass_all_1", [True, False, False]) == pytest.approx(1 / 3)


def test_fewer_trials_than_k_have_no_value() -> None:
    assert value("pass_at_3", [True, True]) is None
    assert value("pass_all_3", [True, True]) is None


@pytest.mark.parametrize("name", ["pass_at_0", "pass_at_01", "pass_at_", "pass_at_x", "pass_any_2", "xpass_at_1"])
def test_other_names_are_none_of_the_family(name: str) -> None:
    assert of_family(name) is None


def test_a_name_is_one_metric_that_knows_its_trials() -> None:
    assert member("pass_at_12") is of_family("pass_at_12")
    assert trials_needed(member("pass_at_12")) == 12


def test_the_interval_is_that_of_samples() -> None:
    answered = [prediction(f"q{n}", trial=t, gold="A", answer="A" if n % 2 else "B") for n in range(40) for t in (0, 1)]
    metrics = [member("pass_at_2")]
    scored = score_all(Triage(), [sample(f"q{n}", gold="A") for n in range(40)], answered, metrics)
    measure = ScoredPredictions(Triage(), scored, seed=1, metrics=metrics).measures()["pass_at_2"]
    assert (measure.value, measure.n) == (0.5, 40)
    assert 0.3 < measure.low < 0.4
