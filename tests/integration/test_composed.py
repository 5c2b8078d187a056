"""Completions and choices as a user writes them, alone and with workers: gates, baselines, perturbations, the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.integration.conftest import Project

CAPITALS = """
import pytest
from pytest_puma import CompletionScenario

class Capitals(CompletionScenario):
    name = "capitals"
    data = {"test": "capitals.jsonl", "train": "more_capitals.jsonl"}
    group_columns = ("continent",)
    scores = ("exact_match", "f1_words")
    text_fields = ("country",)

    def instruction(self, item):
        return f"Q: What is the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return item["capital"]

@pytest.mark.puma(Capitals, strategies=["zero_shot", "few_shot_2"], gates=[
    "exact_match >= 0.7", "exact_match[continent=Asia] >= 0.5", "f1_words >= baseline - 0.05"])
def test_capitals(puma):
    assert puma["truncation_rate"] == 0
"""

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
    assert puma.samples == 8
"""

#: Knows all capitals but that of Peru, and always takes the choice `right`; a letter names it at its place.
KNOWING = """
import re
from pytest_puma.testing import ScriptedBackend

CAPITALS = {"italy": "Rome", "japan": "Tokyo", "norway": "Oslo", "india": "New Delhi", "peru": "Cusco"}

def answer(prompt):
    asked = re.split("\\\\x02user", prompt)[-1]
    if "capital of" in asked:
        country = re.search(r"capital of (\\w+)", asked)[1].lower()
        return f"A: {CAPITALS[country]}"
    letter = re.search(r"^([A-Z])\\. right", asked, re.MULTILINE)
    return f"Answer: {letter[1]}" if letter else "Answer: right 1"

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


ROWS: list[dict[str, Any]] = [
    {"country": "Italy", "capital": ["Rome", "Roma"], "continent": "Europe"},
    {"country": "Norway", "capital": "Oslo", "continent": "Europe"},
    {"country": "Japan", "capital": "Tokyo", "continent": "Asia"},
    {"country": "India", "capital": "New Delhi", "continent": "Asia"},
]
PERU: dict[str, Any] = {"country": "Peru", "capital": "Lima", "continent": "Europe"}
EXAMPLES: list[dict[str, Any]] = [
    {"country": f"{name}land", "capital": f"{name}ville", "continent": continent}
    for name in ("Ab", "Cd", "Ef")
    for continent in ("Asia", "Europe")
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": number, "question": f"Which one is {number}?", "choices": ["wrong", "right 1", "left"], "answer": "right 1"}
    for number in range(12)
]


@pytest.fixture
def capitals(project: Project) -> Project:
    return with_capitals(project)


@pytest.fixture
def quiz(project: Project) -> Project:
    return with_quiz(project)


@pytest.fixture
def alone_capitals(alone: Project) -> Project:
    return with_capitals(alone)


@pytest.fixture
def alone_quiz(alone: Project) -> Project:
    return with_quiz(alone)


def with_capitals(project: Project) -> Project:
    project.write(conftest=KNOWING, test_capitals=CAPITALS)
    write(project, "capitals.jsonl", *ROWS, PERU)
    write(project, "more_capitals.jsonl", *EXAMPLES)
    return project


def with_quiz(project: Project) -> Project:
    project.write(conftest=KNOWING, test_quiz=QUIZ)
    write(project, "quiz.jsonl", *QUESTIONS)
    return project


def write(project: Project, name: str, *rows: Mapping[str, Any]) -> None:
    (project.pytester.path / name).write_text(lines(*rows), encoding="utf-8")


def refused(project: Project, *arguments: str) -> str:
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    return result.stdout.str()


def test_completions_are_measured_judged_and_kept(capitals: Project) -> None:
    result = capitals.run("--puma-report=md:run.md")
    result.assert_outcomes(passed=2)
    for outcome in capitals.record()["outcomes"]:
        assert outcome["measures"]["exact_match"]["value"] == 0.8
        assert outcome["measures"]["exact_match[continent=Asia]"]["value"] == 1
        assert outcome["naive_baselines"] == {}
        assert outcome["confusion"] == {}
    kept = next(each for each in capitals.predictions() if each["fields"]["country"] == "Italy")
    assert (kept["answer"], kept["references"], kept["scores"]["exact_match"]) == ("Rome", ["Rome", "Roma"], 1)
    markdown = (capitals.pytester.path / "run.md").read_text(encoding="utf-8")
    assert "exact_match[continent=Asia]" in markdown


def test_flips_are_shown_as_texts_with_the_scores_then_and_now(capitals: Project) -> None:
    # Of `f1_words`, a part of the words can be right.
    test = CAPITALS.replace('("exact_match", "f1_words")', '("f1_words", "exact_match")')
    capitals.write(test_capitals=test)
    capitals.run("--puma-update-baseline", "-k", "zero_shot").assert_outcomes(passed=1)
    capitals.write(conftest=KNOWING.replace("New Delhi", "Old Delhi " + "or so " * 20))
    worse = capitals.run("--puma-flips", "-k", "zero_shot")
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(
        [
            "flips of capitals-zero_shot@*: 1 worse, 0 better",
            "  worse   * (India): gold is New Delhi, was New Delhi, is Old Delhi or so or so*..., score 1.00 to 0.*",
        ]
    )


def test_a_miss_shows_all_truths_and_the_reply(capitals: Project) -> None:
    write(capitals, "capitals.jsonl", *ROWS, PERU | {"capital": ["Lima", "Ciudad de los Reyes"]})
    result = capitals.run("--puma-gate=exact_match >= 0.9", "-k", "zero_shot")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the worst 1 of 1 misses:", "*: answered Cusco, gold is Lima | Ciudad de los Reyes"])


def test_completions_can_be_perturbed(capitals: Project) -> None:
    result = capitals.run("--puma-perturb=case_upper", "-k", "zero_shot", "--puma-gate=exact_match >= 0.7")
    result.assert_outcomes(passed=2)


def test_the_plan_has_what_scores_with_bounds_can_detect(alone_capitals: Project) -> None:
    plan = alone_capitals.run("--puma-plan")
    plan.stdout.fnmatch_lines(["*capitals-few_shot_2@* 5 * exact_match *0.*", "power: f1_words >= baseline - 0.05: *"])


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
    write(alone_quiz, "quiz.jsonl", *QUESTIONS, QUESTIONS[0] | {"id": 12} | row)
    alone_quiz.write(test_quiz=QUIZ.replace(', "option_scoring_2"', "").replace("samples=8", "samples=13"))
    result = alone_quiz.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([message])


def test_a_truth_that_begins_with_the_cue_is_a_collection_error(alone_capitals: Project) -> None:
    write(alone_capitals, "capitals.jsonl", *ROWS, PERU | {"capital": "A: Lima"})
    assert "its truth 'A: Lima' begins with the cue 'A:', with which the reply already begins" in refused(
        alone_capitals
    )


def test_an_example_that_is_evaluated_is_a_collection_error(alone_capitals: Project) -> None:
    write(alone_capitals, "more_capitals.jsonl", *ROWS)
    message = refused(alone_capitals)
    assert "it is evaluated and is an example in the prompts too; remove it from the split 'train'" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"f1_words")', '"f1_wrds")'), "*scores has 'f1_wrds'; did you mean 'f1_words'? *"),
        (('"continent",', '"region",'), "*region*"),
        (("item['country']", "item['land']"), "*Capitals.instruction failed with KeyError('land'); *"),
        (("[continent=Asia]", "[region=Asia]"), "*capitals has no group column 'region'; there are: continent*"),
    ],
)
def test_an_unknown_name_is_a_collection_error(change: tuple[str, str], message: str, alone_capitals: Project) -> None:
    alone_capitals.write(test_capitals=CAPITALS.replace(*change))
    result = alone_capitals.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([message])


def test_an_unknown_subject_or_split_is_a_collection_error(alone_capitals: Project) -> None:
    assert "Africa" in refused(alone_capitals, "--puma-subject=Africa")
    alone_capitals.write(test_capitals=CAPITALS.replace('name = "capitals"', 'name = "capitals"\n    split = "valid"'))
    assert "no split 'valid' in data; there are: test, train" in refused(alone_capitals)


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
