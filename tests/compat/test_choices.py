"""Tasks whose response type is the likelihoods of given texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import ResponseType
from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.choice import ChoiceScenario
from pytest_puma.scenarios.completion import CompletionScenario
from tests.compat.tasks import CapitalChoices, answered, cell_tasks, turns


def sample_of(scenario: Any, gold: str = "Rome") -> Any:
    return next(sample for sample in draw(scenario, 20, 42) if sample.gold == gold)


def test_choices_are_the_completions_without_space_around_them(folder: Path) -> None:
    sample = sample_of(CapitalChoices(data=folder))
    assert [(each.text, each.right, each.idk) for each in sample.choices] == [
        ("Rome", True, False),
        ("Atlantis", False, False),
        ("I do not know.", False, False),
    ]
    assert sample.references == ("Rome",)


def test_texts_are_scored_after_the_cue_and_the_prompt_does_not_show_them(folder: Path) -> None:
    scenario = CapitalChoices(data=folder)
    assert scenario.strategies == ("cloze_scoring",)
    task = next(task for task in cell_tasks(scenario, "cloze_scoring_1") if task.sample.gold == "Rome")
    *_, question, prefill = turns(task)
    assert (question, prefill) == (("user", "Capital of Italy?"), ("prefill", "A:"))
    assert turns(task)[1][1].startswith("A: ")
    score = task.score(task.prompt(), [choice.text for choice in task.sample.choices], ends=False)
    assert score.continuations == (" Rome", " Atlantis", " I do not know.")


def test_the_most_likely_text_is_the_answer(folder: Path) -> None:
    outcome = answered(CapitalChoices(data=folder), {"Italy": " Rome"}, "cloze_scoring", default=" Atlantis")
    right = {each.gold for each in outcome.predictions if each.answer == each.gold}
    assert right == {"Rome"}
    assert outcome["accuracy"] == pytest.approx(1 / 12)
    assert outcome["accuracy_chars"] == pytest.approx(1 / 12)


def test_a_strategy_that_asks_for_a_letter_shows_the_choices(folder: Path) -> None:
    tasks = cell_tasks(CapitalChoices(data=folder), "few_shot_1")
    *_, (role, question), prefill = turns(next(task for task in tasks if task.sample.gold == "Rome"))
    assert (role, question) == ("user", "Capital of Italy?\nA. Rome\nB. Atlantis\nC. I do not know.")
    assert prefill == ("prefill", "A:")
    assert {turns(task)[1][1] for task in tasks} == {"A: A"}


@pytest.mark.parametrize(
    ("metrics", "idk"),
    [(["TernaryScore"], True), (["DistributionalCorrectnessScore"], True), (["AccuracyLoglikelihood"], False)],
)
def test_the_last_choice_is_idk_if_a_metric_needs_one(folder: Path, metrics: list[str], idk: bool) -> None:  # noqa: FBT001
    scenario = type("Idk", (CapitalChoices,), {"METRICS": metrics})(data=folder)
    assert [choice.idk for choice in sample_of(scenario).choices] == [False, False, idk]


def test_an_uncertain_answer_counts_zero_and_not_minus_one(folder: Path) -> None:
    scenario = type("Idk", (CapitalChoices,), {"METRICS": ["TernaryScore"]})(data=folder)
    script = {"Italy": " I do not know.", "France": " Atlantis"}
    scores = {each.gold: each.scores["ternary"] for each in answered(scenario, script, "cloze_scoring").predictions}
    assert (scores["Rome"], scores["Paris"]) == (0, -1)


def test_several_truths_are_right_choices(folder: Path) -> None:
    scenario = type(
        "Two", (CapitalChoices,), {"_get_ground_truth": lambda _, item: [f" {item['capital']}", " Atlantis"]}
    )
    assert [choice.right for choice in sample_of(scenario(data=folder)).choices] == [True, True, False]


def test_completions_and_truths_both_lose_the_cue(folder: Path) -> None:
    methods = {
        "_get_possible_completions": lambda _, item: [f"A: {item['capital']}", "A: Atlantis"],
        "_get_ground_truth": lambda _, item: f"A: {item['capital']}",
    }
    with pytest.warns(UserWarning, match="begins with the cue 'A:'"):
        sample = sample_of(type("Cued", (CapitalChoices,), methods)(data=folder))
    assert [choice.text for choice in sample.choices] == ["Rome", "Atlantis"]


@pytest.mark.parametrize(
    ("completions", "fault"),
    [
        (None, "_get_possible_completions returned None; expected the texts to score"),
        ([" Atlantis", " Utopia"], "its answer is .*; expected the place from 0, the text or the key of a choice"),
        ([" Rome", "Rome", " Paris"], "choices are 'Rome'"),
    ],
)
def test_faulty_completions_are_refused(folder: Path, completions: list[str] | None, fault: str) -> None:
    scenario = type("Faulty", (CapitalChoices,), {"_get_possible_completions": lambda *_: completions})
    with pytest.raises(DataError, match=fault):
        draw(scenario(data=folder), 20, 42)


def test_a_subclass_may_have_another_response_type_than_its_base(folder: Path) -> None:
    written = type("Written", (CapitalChoices,), {"RESPONSE_TYPE": ResponseType.COMPLETION, "METRICS": ["F1"]})
    scenario = written(data=folder)
    assert isinstance(scenario, CompletionScenario)
    assert not isinstance(scenario, ChoiceScenario)
    assert (scenario.task_type, scenario.strategies) == ("completion", ("zero_shot",))
    assert isinstance(CapitalChoices(data=folder), ChoiceScenario)
