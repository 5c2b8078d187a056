"""Prompts of the scenarios of the small sets, word for word: as a chat, and as plain text for a base model."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Exchange, Generate, Model, Response, SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.scenarios.small import SMALL_SETS
from pytest_puma.strategies import parse_strategy
from tests.scenarios.benchmarks.sample_requests import SampleRequests, sample_requests

ALL = 1_000


def about(name: str, gold: str, strategy: str, *, chat: bool) -> SampleRequests:
    """The requests about the first sample with this gold label."""
    return next(
        each for each in sample_requests(SMALL_SETS[name](), strategy, chat=chat, samples=ALL) if each.golds[0] == gold
    )


PLAIN = {
    ("capitals", "Kairo", "zero_shot"): "Wie heißt die Hauptstadt von Ägypten?\nAntwort:",
    ("capitals", "Quito", "zero_shot"): "What is the capital of Ecuador?\nAnswer:",
    ("arithmetic_word", "21", "zero_shot"): (
        "Hasan has 19 stamps and buys 2 more. How many stamps does Hasan have now?\n"
        "Write the calculation, and then the answer as a number on a last line after ####.\n"
    ),
    ("commonsense_mini", "boots", "option_scoring"): (
        "Question: What do you wear on your feet when you walk in the snow?\n"
        "A. a scarf\nB. boots\nC. a belt\nD. gloves\nE. slippers\nAnswer:"
    ),
    ("commonsense_mini", "boots", "text_scoring"): (
        "Question: What do you wear on your feet when you walk in the snow?\n"
        "- a scarf\n- boots\n- a belt\n- gloves\n- slippers\nAnswer:"
    ),
    ("commonsense_mini", "boots", "cloze_scoring"): (
        "Question: What do you wear on your feet when you walk in the snow?\nAnswer:"
    ),
    ("translate_mini", "Mi hermana tiene dos gatos negros.", "zero_shot"): (
        "Translate this sentence from English into Spanish. Write only the translation.\n"
        "My sister has two black cats.\n"
    ),
}


@pytest.mark.parametrize("which", PLAIN, ids="-".join)
def test_the_prompt_of_a_base_model(which: tuple[str, str, str]) -> None:
    name, gold, strategy = which
    assert about(name, gold, strategy, chat=False).text == PLAIN[which]


def test_examples_of_capitals_are_in_the_language_of_the_question_and_of_its_continent() -> None:
    text = about("capitals", "Quito", "few_shot_3", chat=True).text
    *examples, question = text.split("user: ")[1:]
    assert question == "What is the capital of Ecuador?\nassistant: Answer:"
    assert sorted(examples) == [
        "What is the capital of Brazil?\nassistant: Answer: Brasília\n",
        "What is the capital of Guyana?\nassistant: Answer: Georgetown\n",
        "What is the capital of Suriname?\nassistant: Answer: Paramaribo\n",
    ]


def test_examples_of_needle_are_short_texts_in_its_language_with_one_two_and_no_number() -> None:
    text = about("needle", "keine", "few_shot_3", chat=True).text
    *examples, question = text.split("user: ")[1:]
    answers = [each.rstrip().rpartition("assistant: Antwort: ")[2] for each in examples]
    assert [len(answer.split(", ")) for answer in answers] == [1, 2, 1]
    assert (answers[0].isdecimal(), answers[2]) == (True, "keine")
    assert question.endswith("wenn es keine gibt.\nassistant: Antwort:")


def test_a_set_without_as_many_examples_says_so() -> None:
    with pytest.raises(SettingsError, match="4 examples requested"):
        about("needle", "keine", "few_shot_4", chat=True)


def test_an_example_of_arithmetic_shows_its_steps() -> None:
    text = about("arithmetic_word", "21", "one_shot", chat=True).text
    shown = text.partition("assistant: ")[2].partition("\nuser: ")[0]
    *steps, last = shown.split("\n")
    assert all(step.endswith(".") and " = " in step for step in steps)
    assert last == f"#### {steps[-1].removesuffix('.').rpartition(' = ')[2]}"


def test_choices_are_scored_by_letter_or_by_text() -> None:
    assert about("knowledge_mini", "a mouse", "option_scoring_3", chat=True).continuations == (" A", " B", " C", " D")
    assert about("knowledge_mini", "a mouse", "cloze_scoring_3", chat=True).continuations == (
        " a printer",
        " a mouse",
        " a loudspeaker",
        " a scanner",
    )


@pytest.mark.parametrize("name", ["needle", "common_words", "summaries_mini", "formats", "instructions_mini"])
def test_a_prompt_shows_the_texts_of_its_row(name: str) -> None:
    scenario = SMALL_SETS[name]()
    model = Model(name="m", path=Path("m.gguf"))
    cell = Cell(scenario=scenario, strategy=parse_strategy("zero_shot"), model=model, samples=5)
    for task in tasks_of(cell, None):
        (message,) = task.prompt().messages
        assert all(str(task.sample.fields[field]) in message.content for field in scenario.text_fields)
        assert str(task.sample.fields.get("question", "")) in message.content


def test_the_second_turn_of_a_dialogue_follows_the_reply_to_the_first() -> None:
    model = Model(name="m", path=Path("m.gguf"))
    cell = Cell(scenario=SMALL_SETS["dialogue_mini"](), strategy=parse_strategy("zero_shot"), model=model, samples=ALL)
    task = next(each for each in tasks_of(cell, None) if each.sample.id == "dialogue-01")
    exchange = Exchange(cell.strategy.converse(task))
    (first,) = exchange.advance()
    (second,) = exchange.advance((Response(text="Hello, Bruno!"),))
    assert isinstance(first, Generate)
    assert first.prompt.stop == ("\n",)
    assert [(message.role, message.content) for message in second.prompt.messages] == [
        ("user", "My dog is called Bruno. Say hello to him."),
        ("assistant", "Hello, Bruno!"),
        ("user", "What is the name of my dog? Answer in a few words."),
    ]
