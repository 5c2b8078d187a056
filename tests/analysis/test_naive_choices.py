"""Naive baselines of choices and completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from pytest_puma import ChoiceScenario, CompletionScenario
from pytest_puma.analysis.naive_baselines import NaiveBaseline, NaiveBaselines
from pytest_puma.core import Choice, Sample, Scenario
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.stats.resampling import Resamples


class Quiz(ChoiceScenario):
    name = "quiz"

    def question(self, item: dict[str, Any]) -> str:
        return str(item["question"])

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        return list(item["choices"])

    def answer(self, item: dict[str, Any]) -> int:
        return int(item["answer"])


class Capitals(CompletionScenario):
    name = "capitals"

    def instruction(self, item: dict[str, Any]) -> str:
        return f"Capital of {item['country']}?"

    def truth(self, item: dict[str, Any]) -> str:
        return str(item["capital"])


def quiz(n: int) -> list[Sample]:
    """Questions of which the right choice names a colour; the position of it changes."""
    samples = []
    for place in range(n):
        fields: dict[str, Any] = {
            "question": f"What is number {place}?",
            "choices": [f"thing {place}", f"a very long thing {place * 7}"],
        }
        fields["choices"].insert(place % 3, f"blue{place}, blue")
        scenario = Quiz()
        fields["answer"] = place % 3
        choices = scenario.options(fields)
        samples.append(
            Sample(id=str(place), fields=fields, gold=choices[place % 3].text, units=(str(place),), choices=choices)
        )
    return samples


def programs_on(scenario: Scenario, samples: Sequence[Sample]) -> Mapping[str, NaiveBaseline]:
    metrics = [LIBRARY[name] for name in scenario.scores if isinstance(name, str)]
    resamples = Resamples([sample.units for sample in samples], seed=42)
    return NaiveBaselines().find(scenario, samples, resamples, metrics=metrics)


def answers(naive: NaiveBaseline) -> list[str | None]:
    return [prediction.answer for prediction in naive.answers.values()]


def test_first_and_longest_take_the_choice_at_their_place() -> None:
    samples = quiz(12)
    baselines = programs_on(Quiz(), samples)
    assert answers(baselines["first"]) == [sample.choices[0].text for sample in samples]
    assert answers(baselines["longest"]) == [f"a very long thing {place * 7}" for place in range(12)]
    assert baselines["first"].measures["accuracy"].value == pytest.approx(4 / 12)
    assert baselines["longest"].measures["accuracy"].value == 0.0


def test_guess_takes_each_choice_about_equally_often() -> None:
    samples = quiz(600)
    guesses = answers(programs_on(Quiz(), samples)["guess"])
    places = [
        [choice.text for choice in sample.choices].index(str(text))
        for sample, text in zip(samples, guesses, strict=True)
    ]
    assert min(map(places.count, range(3))) > 150


def test_tfidf_learns_which_words_the_right_choices_have() -> None:
    tfidf = programs_on(Quiz(), quiz(60))["tfidf"]
    assert tfidf.measures["accuracy"].value > 0.9


def test_tfidf_equals_an_independent_computation() -> None:
    samples = quiz(40)
    expected: dict[int, str] = {}
    rows = np.arange(len(samples))
    for training, test in GroupKFold(5, shuffle=True, random_state=42).split(rows, rows, rows):
        words = TfidfVectorizer(sublinear_tf=True)
        words.fit(
            [f"Question: What is number {row}?" for row in training]
            + [choice.text for row in training for choice in samples[row].choices]
            + ["text"]
        )

        def described(row: int, choice: Choice, words: TfidfVectorizer = words) -> list[float]:
            own = words.transform([choice.text]).toarray()[0]
            question = words.transform([f"Question: What is number {row}?"]).toarray()[0]
            longest = max(len(each.text) for each in samples[row].choices)
            return [*own, float(own @ question), len(choice.text) / longest]

        table = [described(row, choice) for row in training for choice in samples[row].choices]
        right = [choice.right for row in training for choice in samples[row].choices]
        model = LogisticRegression(max_iter=1000).fit(table, right)
        for row in test:
            scores = model.decision_function([described(row, choice) for choice in samples[row].choices])
            expected[row] = samples[row].choices[int(np.argmax(scores))].text
    assert answers(programs_on(Quiz(), samples)["tfidf"]) == [expected[row] for row in range(len(samples))]


def test_tfidf_is_left_out_with_fewer_than_ten_questions() -> None:
    assert set(programs_on(Quiz(), quiz(9))) == {"first", "longest", "guess"}


def capital(place: int, name: str) -> Sample:
    fields = {"country": f"land {place}", "capital": name}
    return Sample(id=str(place), fields=fields, gold=name, references=(name,), units=(str(place),))


def capitals(*names: str) -> list[Sample]:
    return [capital(place, name) for place, name in enumerate(names)]


def test_a_completion_is_answered_with_nothing_the_question_and_the_commonest_truth() -> None:
    baselines = programs_on(Capitals(), capitals("Rome", "Oslo", "Rome", "Lima"))
    assert set(baselines) == {"empty", "echo", "majority"}
    assert [prediction.text for prediction in baselines["empty"].answers.values()] == [""] * 4
    assert answers(baselines["echo"]) == [f"Capital of land {place}?" for place in range(4)]
    assert answers(baselines["majority"]) == ["Rome"] * 4
    assert {name: each.measures["exact_match"].value for name, each in baselines.items()} == {
        "empty": 0.0,
        "echo": 0.0,
        "majority": 0.5,
    }


def test_truths_that_all_differ_have_no_majority() -> None:
    assert set(programs_on(Capitals(), capitals("Rome", "Oslo"))) == {"empty", "echo"}
