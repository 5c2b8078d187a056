"""Prompts composed from the methods of a scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_puma.core import Choice, DataError, Message, Sample, TemplateError, Trial
from pytest_puma.strategies import Task
from pytest_puma.strategies.composed import Composed
from tests.composed import QUESTION, Capitals, Quiz

ITALY = {"country": "Italy", "capital": "Rome"}
NORWAY = {"country": "Norway", "capital": "Oslo", "gold_label": "Oslo", "rationale": ""}
PEN = {**QUESTION, "gold_label": "desk", "rationale": ""}


class Formal(Capitals):
    def system(self, item: dict[str, Any]) -> str:  # noqa: ARG002
        return "Be exact."

    def preamble(self, item: dict[str, Any]) -> str:
        return f"Geography of {item['country']}."


class InText(Formal):
    shots_as = "text"


class Asking(Quiz):
    """Its question ends with the cue."""

    def instruction(self, item: dict[str, Any], options: str) -> str:
        return f"{item['question']}\n{options}\nAnswer:"


def completion(scenario: Capitals, **fields: Any) -> Task:
    sample = Sample(id="s", fields=ITALY, gold="Rome", units=("s",), references=("Rome",))
    return Task(scenario=scenario, sample=sample, wording=Composed(scenario=scenario), **fields)


def choice(scenario: Quiz, *, cloze: bool = False, reasoning: bool = False, **fields: Any) -> Task:
    choices = tuple(Choice(text=text, right=text == "desk") for text in QUESTION["choices"])  # type: ignore[attr-defined]
    sample = Sample(id="s", fields=QUESTION, gold="desk", units=("s",), choices=choices)
    wording = Composed(scenario=scenario, cloze=cloze, reasoning=reasoning)
    return Task(scenario=scenario, sample=sample, wording=wording, **fields)


def shown(task: Task) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in task.prompt().messages]


def test_a_question_is_the_message_of_the_user_and_the_cue_begins_the_reply() -> None:
    task = completion(Capitals())
    assert shown(task) == [("user", "Q: Capital of Italy?")]
    assert task.prompt().prefill == "A:"


def test_examples_are_turns_whose_answers_begin_with_the_cue() -> None:
    assert shown(completion(Formal(), examples=[NORWAY])) == [
        ("system", "Be exact."),
        ("user", "Geography of Italy.\n\nQ: Capital of Norway?"),
        ("assistant", "A: Oslo"),
        ("user", "Q: Capital of Italy?"),
    ]


def test_examples_can_be_text_before_the_question() -> None:
    assert shown(completion(InText(), examples=[NORWAY])) == [
        ("system", "Be exact."),
        ("user", "Geography of Italy.\n\nQ: Capital of Norway?\nA: Oslo\n\nQ: Capital of Italy?"),
    ]


def test_choices_are_lines_with_letters_in_the_order_of_the_trial() -> None:
    assert shown(choice(Quiz())) == [("user", "Question: Where is a pen?\nA. desk\nB. sea\nC. sky")]
    turned = choice(Quiz(), trial=Trial(1, (2, 0, 1)))
    assert shown(turned) == [("user", "Question: Where is a pen?\nA. sky\nB. desk\nC. sea")]
    assert turned.labels == ["sky", "desk", "sea"]


def test_examples_of_choices_answer_with_their_letter_and_in_cloze_with_their_text() -> None:
    assert shown(choice(Quiz(), examples=[PEN]))[:2] == [
        ("user", "Question: Where is a pen?\nA. desk\nB. sea\nC. sky"),
        ("assistant", "Answer: A"),
    ]
    assert shown(choice(Quiz(), cloze=True, examples=[PEN])) == [
        ("user", "Question: Where is a pen?"),
        ("assistant", "Answer: desk"),
        ("user", "Question: Where is a pen?"),
    ]


def test_a_cue_that_ends_the_question_is_not_repeated() -> None:
    task = choice(Asking())
    assert task.prompt().prefill == ""
    assert shown(task)[0][1].endswith("C. sky\nAnswer:")


def test_in_plain_text_a_cue_that_ends_the_question_begins_the_reply() -> None:
    task = choice(Asking(), chat=False)
    assert task.prompt().prefill == "Answer:"
    assert shown(task)[0][1].endswith("C. sky")


@pytest.mark.parametrize(
    ("task", "end"),
    [
        (completion(Capitals()), "that starts with 'Answer:'."),
        (choice(Quiz()), "Then write the letter of your choice alone on a last line that starts with 'Answer:'."),
    ],
)
def test_a_reply_that_reasons_has_no_cue_and_ends_in_its_answer(task: Task, end: str) -> None:
    assert isinstance(task.wording, Composed)
    reasoned = replace(task, wording=replace(task.wording, reasoning=True))
    assert reasoned.prompt().prefill == ""
    assert shown(reasoned)[-1][1].endswith(end)


def test_the_digest_changes_with_the_prompt_alone() -> None:
    first, other = completion(Capitals()), completion(Formal())
    assert first.wording.digest(first) == first.wording.digest(completion(Capitals(), seed=7))
    assert first.wording.digest(first) != other.wording.digest(other)


def test_a_method_without_text_is_an_error_that_names_it() -> None:
    class Silent(Capitals):
        def instruction(self, item: dict[str, Any]) -> str:  # noqa: ARG002
            return " "

    with pytest.raises(DataError, match=r"Silent\.instruction returned ' '; expected a text that is not empty"):
        completion(Silent()).prompt()


def test_a_method_that_fails_is_an_error_with_the_columns_of_the_row() -> None:
    class Wrong(Capitals):
        def cue(self, item: dict[str, Any]) -> str:
            return str(item["town"])

    with pytest.raises(DataError, match=r"Wrong\.cue failed with KeyError\('town'\); the row has: country, capital"):
        completion(Wrong()).prompt()


def test_another_turn_needs_a_template() -> None:
    with pytest.raises(TemplateError, match="the methods of Capitals: no method for the turn 'decide'"):
        completion(Capitals()).prompt("decide")


def test_a_history_replaces_the_cue() -> None:
    history = (Message(role="user", content="Hello"),)
    prompt = completion(Capitals()).prompt(history=history)
    assert [message.content for message in prompt.messages] == ["Hello", "Q: Capital of Italy?"]
    assert prompt.prefill == ""
