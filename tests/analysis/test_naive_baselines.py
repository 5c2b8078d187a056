"""Answers of naive baselines, against an independent computation with scikit-learn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import hstack
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from threadpoolctl import threadpool_info

from pytest_puma.analysis.naive_baselines import NaiveBaseline, NaiveBaselines
from pytest_puma.analysis.naive_programs import PROGRAMS
from pytest_puma.core import OwnMetric, Sample, Scenario
from pytest_puma.datasets.sampling import draw
from pytest_puma.judges import rubric
from pytest_puma.scenarios import BUILTIN, TriageJiraScenario
from pytest_puma.stats.resampling import Resamples
from tests.factories import cell, evaluated, sample

SCENARIOS = ("triage_jira", "estimation_tawos", "prioritization_jira")


def resamples(samples: tuple[Sample, ...], seed: int = 42) -> Resamples:
    return Resamples([sample.units for sample in samples], seed=seed)


def programs_on(scenario: Scenario, samples: tuple[Sample, ...], seed: int = 42) -> Mapping[str, NaiveBaseline]:
    return NaiveBaselines().find(scenario, samples, resamples(samples, seed))


@cache
def drawn(name: str, n: int = 100) -> tuple[Scenario, tuple[Sample, ...], Mapping[str, NaiveBaseline]]:
    scenario = BUILTIN[name]()
    samples = draw(scenario, n, 42)
    return scenario, samples, programs_on(scenario, samples)


def answers(baselines: Mapping[str, NaiveBaseline], name: str) -> list[Any]:
    return [prediction.answer for prediction in baselines[name].answers.values()]


def cross_validated(scenario: Scenario, samples: tuple[Sample, ...]) -> list[Any]:
    """Predictions of scikit-learn: one vocabulary a field and fold, all words of a row side by side."""
    regression = scenario.task_type == "regression"
    golds = np.array([float(sample.gold) if regression else sample.gold for sample in samples])
    groups = list(range(len(samples)))
    split = GroupKFold if regression else StratifiedGroupKFold
    answered = np.empty(len(samples), dtype=object)
    for learn, ask in split(5, shuffle=True, random_state=42).split(golds, golds, groups):
        columns = []
        for field in scenario.text_fields:
            words = TfidfVectorizer(sublinear_tf=True)
            texts = np.array([f"text {sample.fields[field]}" for sample in samples])
            columns.append((words.fit_transform(texts[learn]), words.transform(texts[ask])))
        train, new = (hstack(side).tocsr() for side in zip(*columns, strict=True))
        model = Ridge() if regression else LogisticRegression(max_iter=1000)
        answered[ask] = model.fit(train, golds[learn]).predict(new)
    return list(answered)


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_task_has_its_programs(name: str) -> None:
    scenario, samples, baselines = drawn(name)

    assert tuple(baselines) == scenario.kind.naive_baselines
    for naive in baselines.values():
        assert list(naive.answers) == [sample.id for sample in samples]
        assert naive.measures["parse_failure_rate"].value == 0


def test_the_learned_classifier_is_that_of_scikit_learn() -> None:
    scenario, samples, baselines = drawn("triage_jira")
    expected, golds = cross_validated(scenario, samples), [sample.gold for sample in samples]

    assert answers(baselines, "tfidf") == expected
    assert baselines["tfidf"].measures["f1_macro"].value == pytest.approx(f1_score(golds, expected, average="macro"))
    assert baselines["tfidf"].measures["accuracy"].value == pytest.approx(accuracy_score(golds, expected))


def test_one_thread_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    learned, threads = LogisticRegression.fit, set[int]()

    def fit(program: LogisticRegression, *rows: Any) -> LogisticRegression:
        threads.update(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return learned(program, *rows)

    monkeypatch.setattr(LogisticRegression, "fit", fit)
    programs_on(*drawn("triage_jira")[:2])
    assert threads == {1}


def test_the_learned_regression_is_that_of_scikit_learn() -> None:
    scenario, samples, baselines = drawn("estimation_tawos")
    expected, golds = cross_validated(scenario, samples), [float(sample.gold) for sample in samples]

    assert [float(answer) for answer in answers(baselines, "tfidf")] == pytest.approx(expected)
    assert baselines["tfidf"].measures["mae"].value == pytest.approx(mean_absolute_error(golds, expected))


def test_of_pairs_each_issue_has_words_of_its_own() -> None:
    """Words of A and of B weigh against each other: in one bag both issues would look alike."""
    scenario, samples, baselines = drawn("prioritization_jira", 60)

    assert answers(baselines, "tfidf") == cross_validated(scenario, samples)


@pytest.mark.parametrize("name", ["triage_jira", "prioritization_jira"])
def test_the_commonest_label_is_that_of_scikit_learn(name: str) -> None:
    _, samples, baselines = drawn(name)
    golds = [sample.gold for sample in samples]
    counts = Counter(golds)
    dummy = DummyClassifier(strategy="most_frequent").fit(golds, golds).predict(golds)

    (answered,) = set(answers(baselines, "majority"))
    assert counts[answered] == max(counts.values())
    assert baselines["majority"].measures["accuracy"].value == pytest.approx(accuracy_score(golds, dummy))


@pytest.mark.parametrize("name", ["mean", "median"])
def test_one_number_for_all_is_that_of_scikit_learn(name: str) -> None:
    _, samples, baselines = drawn("estimation_tawos")
    golds = [float(sample.gold) for sample in samples]
    dummy = DummyRegressor(strategy=name).fit(golds, golds).predict(golds)

    assert [float(answer) for answer in answers(baselines, name)] == pytest.approx(list(dummy))
    assert baselines[name].measures["mae"].value == pytest.approx(mean_absolute_error(golds, dummy))


def test_a_guess_is_as_often_each_label_as_it_is_right() -> None:
    scenario = BUILTIN["triage_jira"]()
    samples = draw(scenario, 200, 42)
    answered = [answer for seed in range(10) for answer in PROGRAMS["guess"](scenario, samples, seed)]
    golds = Counter(sample.gold for sample in samples)

    for label, times in Counter(answered).items():
        assert times / len(answered) == pytest.approx(golds[label] / len(samples), abs=0.03)


def test_the_same_samples_and_seed_give_the_same_answers() -> None:
    scenario, samples, baselines = drawn("triage_jira")
    assert answers(programs_on(scenario, samples), "guess") == answers(baselines, "guess")


def test_each_program_answers_once_for_all_cells() -> None:
    scenario = BUILTIN["triage_jira"]()
    naive_baselines, samples = NaiveBaselines(), draw(scenario, 20, 42)
    first = naive_baselines.find(scenario, samples, resamples(samples))

    assert naive_baselines.find(BUILTIN["triage_jira"](), samples, resamples(samples)) is first
    assert naive_baselines.find(scenario, samples, resamples(samples, 43)) is not first


@pytest.mark.parametrize("n", [1, 5, 9])
def test_few_samples_teach_nothing(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "tfidf" not in drawn("triage_jira", n)[2]


@pytest.mark.parametrize("n", [10, 12, 17])
def test_rare_labels_are_learned_without_a_warning(n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "tfidf" in drawn("triage_jira", n)[2]


def test_samples_that_share_an_issue_are_in_one_fold() -> None:
    """Both orders of a pair: learned from one, the other would be known by heart."""
    scenario = BUILTIN["prioritization_jira_both_orders"]()
    samples = draw(scenario, 100, 42)
    baselines = programs_on(scenario, samples)

    assert baselines["tfidf"].measures["accuracy"].value < 0.9


class _Paint(TriageJiraScenario):
    """Columns of its own, and perhaps a metric that only a model's replies can give."""

    def metrics(self) -> Mapping[str, OwnMetric]:
        return {"length": lambda baselines: len(baselines[0].raw[1])}


def paint(**fields: Any) -> tuple[Sample, ...]:
    return tuple(
        sample(str(n), fields={"priority": gold, **fields}, gold=gold) for n, gold in enumerate(["Minor", "Major"] * 6)
    )


def test_fields_that_the_data_lack_are_not_read() -> None:
    assert "tfidf" in programs_on(TriageJiraScenario(), paint(title="red"))
    assert "tfidf" in programs_on(TriageJiraScenario(), paint(colour="red", tin=3))


def test_a_program_that_cannot_be_computed_is_left_out_with_its_reason() -> None:
    naive_baselines, samples = NaiveBaselines(), paint(tin=3)
    baselines = naive_baselines.find(TriageJiraScenario(), samples, resamples(samples))
    assert list(baselines) == ["majority", "guess"]
    assert naive_baselines.left_out() == [
        (
            "the naive baseline tfidf is left out: the samples have no text to learn from; "
            "text_fields are title, description"
        )
    ]
    assert naive_baselines.left_out() == []
    assert not naive_baselines.find(_Paint(), samples, resamples(samples))
    assert (
        naive_baselines.left_out()[0].partition(" (")[0]
        == "the naive baseline majority is left out: metric 'length' raised IndexError: tuple index out of range"
    )


def test_a_cell_goes_on_without_the_programs_that_fail() -> None:
    shown = cell(_Paint(), "egi", metrics=("length",))
    outcome = evaluated(shown, lambda _: "Answer: Major", naive_baselines=NaiveBaselines())
    assert outcome["length"] == 13
    assert outcome.tables.naive_baselines == {}
    assert sum("raised IndexError" in warning for warning in outcome.judgement.warnings) == 3


def test_what_asks_a_judge_or_runs_programs_is_not_measured() -> None:
    scenario, samples, _ = drawn("triage_jira", 20)
    asking = rubric("calm", "Is it calm?")
    found = NaiveBaselines().find(
        scenario,
        samples,
        resamples(samples),
        metrics=[asking],
        only=["accuracy", "judge.calm", "judge.calm[mean team]"],
    )
    assert {name for baseline in found.values() for name in baseline.measures} == {"accuracy"}
