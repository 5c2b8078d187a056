"""Tasks that create several samples of a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import BaseMetricContext, Message, Role, Sample
from pytest_puma.core import DataError
from pytest_puma.perturbations import perturb
from pytest_puma.perturbations.catalogue import parse_perturbation
from pytest_puma.scenarios import draw
from tests.compat.tasks import CapitalChoices, Capitals, cell_tasks, turns


class BothWays(Capitals):
    """The capital of a country, and the country of a capital."""

    def _create_samples(self, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        (sample,) = super()._create_samples(item, index, subject)
        back = Sample(
            id=index + 1,
            subject=subject,
            messages=[
                Message(Role.SYSTEM, "Name a country."),
                Message(Role.USER, f"{item['capital']} is the capital of?"),
                Message(Role.ASSISTANT, "Country:"),
            ],
            ground_truth=f" {item['country']}",
            context=BaseMetricContext(language="en"),
        )
        return [sample, back]


def test_each_created_sample_is_a_row_with_its_own_texts(folder: Path) -> None:
    tasks = cell_tasks(BothWays(data=folder), "zero_shot", samples=30)
    assert len(tasks) == 24
    assert len({task.sample.id for task in tasks}) == 24
    shown = {task.sample.gold: turns(task) for task in tasks}
    assert shown["Rome"] == [("user", "Capital of Italy?"), ("prefill", "A:")]
    assert shown["Italy"] == [
        ("system", "Name a country."),
        ("user", "Rome is the capital of?"),
        ("prefill", "Country:"),
    ]
    contexts = {task.sample.gold: task.sample.context for task in tasks}
    assert contexts["Italy"] == {"original": "Rome is the capital of?", "language": "en"}
    assert contexts["Rome"] == {"original": "Capital of Italy?"}


def test_examples_are_rows_and_not_created_samples(folder: Path) -> None:
    tasks = cell_tasks(BothWays(data=folder), "few_shot_5", samples=30)
    for task in tasks:
        assert len(task.examples) == 5
        questions = [content for role, content in turns(task)[:-2] if role == "user"]
        assert all(text.startswith("Capital of ") for text in questions)


def test_the_initial_text_is_in_the_message_of_a_created_sample_once(folder: Path) -> None:
    framed = type("Framed", (BothWays,), {"_get_initial_prompt_text": lambda *_: "Geography."})
    shown = {task.sample.gold: turns(task) for task in cell_tasks(framed(data=folder), "zero_shot", samples=30)}
    assert ("user", "Geography.\n\nCapital of Italy?") in shown["Rome"]


def test_a_created_message_can_be_perturbed(folder: Path) -> None:
    scenario = BothWays(data=folder)
    sample = next(each for each in draw(scenario, 30, 42) if each.gold == "Italy")
    changed = perturb(scenario, sample, parse_perturbation("case_upper"), 42, ("created_instruction",))
    assert scenario.question_text(dict(changed.fields), ()) == "ROME IS THE CAPITAL OF?"


def test_a_created_sample_has_its_own_choices(folder: Path) -> None:
    def create(self: Any, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        message = Message(Role.USER, f"{item['capital']} is the capital of?")
        return [
            Sample(
                id=index, subject=subject, messages=[message], ground_truth=" Yes", possible_completions=["Yes", "No"]
            )
        ]

    scenario = type("Own", (CapitalChoices,), {"_create_samples": create})(data=folder)
    sample = draw(scenario, 1, 42)[0]
    assert [(choice.text, choice.right) for choice in sample.choices] == [("Yes", True), ("No", False)]


@pytest.mark.parametrize(
    ("roles", "shown"),
    [
        ([Role.USER, Role.ASSISTANT, Role.USER], "user, assistant, user"),
        ([Role.ASSISTANT], "assistant"),
        ([], "none"),
    ],
)
def test_a_created_chat_of_another_form_is_refused(folder: Path, roles: list[Role], shown: str) -> None:
    messages = [Message(role, "text") for role in roles]

    def create(self: Any, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        return [Sample(id=index, subject=subject, messages=messages, ground_truth="x")]

    scenario = type("Chat", (Capitals,), {"_create_samples": create})(data=folder)
    with pytest.raises(DataError, match=f"messages of {shown}; expected one user"):
        draw(scenario, 1, 42)
