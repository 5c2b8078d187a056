"""Choices as a user writes them, alone and with workers: orders, naive baselines, templates, rows with errors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import KNOWING, refused, write_rows

QUIZ = """
import pytest
from pytest_puma import ChoiceScenario

class Quiz(ChoiceScenario):
    name = "quiz"
    data = "quiz.jsonl"
    key = "id"
    orders = 3

    def question(self, item):
        return item["question"]

    def choices(self, item):
        return item["choices"]

    def answer(self, item):
        return item["answer"]

@pytest.mark.puma(Quiz, strategies=["zero_shot", "option_scoring", "option_scoring_2", "cloze_scoring"], samples=8,
                  gates=["accuracy >= 0.6"])
def test_quiz(puma):
    assert puma.execution.samples == 8
"""

QUESTIONS: list[dict[str, Any]] = [
    {"id": number, "question": f"Which one is {number}?", "choices": ["wrong", "right 1", "left"], "answer": "right 1"}
    for number in range(12)
]


@pytest.fixture
def quiz(project: Project) -> Project:
    return with_quiz(project)


@pytest.fixture
def alone_quiz(alone: Project) -> Project:
    return with_quiz(alone)


def with_quiz(project: Project) -> Project:
    project.write(conftest=KNOWING, test_quiz=QUIZ)
    write_rows(project, "quiz.jsonl", *QUESTIONS)
    return project


@ONE_PROCESS
def test_choices_are_asked_in_several_orders_by_letters_and_by_texts(quiz: Project) -> None:
    quiz.run().assert_outcomes(passed=4)
    outcomes = {outcome["strategy"]: outcome for outcome in quiz.record()["outcomes"]}
    assert {name: outcome["trials"] for name, outcome in outcomes.items()} == {
        "zero_shot": 24,
        "option_scoring": 24,
        "option_scoring_2": 24,
        "cloze_scoring": 8,
    }
    assert {outcome["measures"]["accuracy"]["value"] for outcome in outcomes.values()} == {1.0}
    lettered = [each for each in quiz.predictions() if each["cell"].startswith("quiz-option_scoring@")]
    assert {each["answer"] for each in lettered} == {"right 1"}
    assert len({tuple(each["order"]) for each in lettered}) > 2
    cloze = next(each for each in quiz.predictions() if each["cell"].startswith("quiz-cloze"))
    assert len(cloze["likelihoods"]) == 3


def test_choices_have_naive_baselines_and_another_order_is_a_perturbation(quiz: Project) -> None:
    naive = ["-o", "puma_naive_baselines=true", "--puma-gate=accuracy >= naive.first + 0.3"]
    result = quiz.run(*naive, "--puma-perturb=label_order", "-k", "zero_shot")
    result.assert_outcomes(passed=2)
    outcome = quiz.record()["outcomes"][0]
    assert {name: each["accuracy"]["value"] for name, each in outcome["naive_baselines"].items()} == {
        "first": 0.0,
        "longest": 1.0,
        "guess": pytest.approx(1 / 3, abs=0.4),
    }


def test_texts_that_are_shown_are_scored_in_each_order(quiz: Project) -> None:
    quiz.run("--puma-strategy=text_scoring,text_scoring_2").assert_outcomes(passed=2)
    outcomes = quiz.record()["outcomes"]
    assert [(outcome["trials"], outcome["measures"]["accuracy"]["value"]) for outcome in outcomes] == [(24, 1.0)] * 2
    first = quiz.predictions()[0]
    assert (first["answer"], len(first["likelihoods"])) == ("right 1", 3)


def test_a_template_must_show_the_choices_whose_texts_are_scored(alone_quiz: Project) -> None:
    folder = alone_quiz.pytester.mkdir("prompts") / "quiz"
    folder.mkdir()
    (folder / "text_scoring.jinja").write_text("{{ question }}", encoding="utf-8")
    output = refused(alone_quiz, "--puma-strategy=text_scoring")
    assert "text_scoring.jinja: does not show the choice 'wrong', which text_scoring needs" in output


@ONE_PROCESS
def test_choices_can_be_compared_and_stopped_early(quiz: Project) -> None:
    quiz.run("--puma-stop-early", "--puma-compare=strategy").assert_outcomes(passed=4)
    assert quiz.record()["contrasts"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": "top"}, "*scenario 'quiz', row 12: its answer is 'top'; expected the place from 0, the text or *"),
        ({"choices": ["a", "a", "b"]}, "*row 12: two of its choices are 'a'; expected different texts*"),
        ({"question": None}, "*row 12: *question() returned None; expected a text that is not empty*"),
        ({"choices": "a, b"}, "*row 12: *expected at least two texts*"),
    ],
)
def test_a_row_of_choices_that_cannot_be_asked_is_a_collection_error(
    row: dict[str, Any], message: str, alone_quiz: Project
) -> None:
    write_rows(alone_quiz, "quiz.jsonl", *QUESTIONS, QUESTIONS[0] | {"id": 12} | row)
    alone_quiz.write(test_quiz=QUIZ.replace(', "option_scoring_2"', "").replace("samples=8", "samples=13"))
    result = alone_quiz.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([message])


def test_a_template_replaces_the_methods_and_must_fit_the_choices(alone_quiz: Project) -> None:
    template = alone_quiz.pytester.mkdir("prompts") / "quiz" / "zero_shot.jinja"
    template.parent.mkdir()
    template.write_text("{{ question }}", encoding="utf-8")
    assert "zero_shot.jinja: does not show the choice 'wrong', which zero_shot needs" in refused(alone_quiz)
    template.write_text(
        "Choose! {{ question }}\n{% for choice in choices %}{{ choice.letter }}. {{ choice.text }}\n{% endfor %}",
        encoding="utf-8",
    )
    alone_quiz.run("-k", "zero_shot").assert_outcomes(passed=1)
    (template.parent / "cloze_scoring.jinja").write_text(template.read_text("utf-8"), encoding="utf-8")
    assert "cloze_scoring.jinja: shows the choices, but cloze_scoring scores their texts" in refused(alone_quiz)
