"""Replies under a grammar of the valid answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_puma.core import DataError, Generation, Response, Sample, SettingsError, Trial
from pytest_puma.strategies import Task, parse_strategy
from pytest_puma.strategies.composed import Composed
from pytest_puma.strategies.conversations import constrained, direct
from pytest_puma.strategies.valid_answers import grammar_of
from tests.composed import Capitals
from tests.strategies.play import OVERFLOW, Taste, Weight, play, responses, task
from tests.strategies.test_choices import capital, question, scored


class Quoted(Taste):
    labels: ClassVar[tuple[str, ...]] = ('a "b"', "c\\d", "e\nf")


class Free(Weight):
    labels: ClassVar[tuple[str, ...]] = ()


class Invoices(Capitals):
    name = "invoices"


class Deciding(Invoices):
    def reply_to(self, item: dict[str, Any], said: Sequence[str]) -> str | None:  # noqa: ARG002
        return None


class Twice(Invoices):
    def turns(self, item: dict[str, Any]) -> tuple[str, ...]:
        return (f"{item['country']}?", "And?")


def invoice(scenario: Invoices | None = None, **context: object) -> Task:
    scenario = scenario or Invoices()
    sample = Sample(id="7", fields={"country": "x"}, gold="x", units=("7",), references=("x",), context=context)
    return Task(
        scenario=scenario,
        sample=sample,
        wording=Composed(scenario=scenario),
        generation=Generation(max_tokens=16, temperature=0.0),
    )


def test_the_grammar_of_labels_numbers_and_letters(tmp_path: Path) -> None:
    assert grammar_of(task(tmp_path)) == 'root ::= " "? ("SWEET" | "SOUR" | "BITTER")'
    assert grammar_of(task(tmp_path, scenario=Weight())) == 'root ::= " "? ("1" | "2" | "3" | "5")'
    assert grammar_of(task(tmp_path, scenario=Free())) == 'root ::= " "? "-"? [0-9]{1,15} ("." [0-9]{1,15})?'
    assert grammar_of(question(trial=Trial(0, (2, 0, 1)))) == 'root ::= " "? ("A" | "B" | "C")'
    assert grammar_of(task(tmp_path, scenario=Quoted())) == r'root ::= " "? ("a \"b\"" | "c\\d" | "e\nf")'


def test_the_prompt_is_that_of_zero_shot_and_the_reply_cannot_think(tmp_path: Path) -> None:
    bound, free = (play(way(task(tmp_path)), responses("SOUR")).generates[0] for way in (constrained, direct))
    assert bound.prompt == free.prompt
    assert (bound.seed, bound.max_tokens, bound.temperature) == (free.seed, free.max_tokens, free.temperature)
    assert (bound.thinks, free.thinks, free.grammar) == (False, True, None)
    assert parse_strategy("constrained").templates == ("constrained", "zero_shot")
    assert parse_strategy("constrained_5").templates == ("constrained_5", "few_shot_5", "few_shot")


@pytest.mark.parametrize(("reply", "value"), [(" SOUR", "SOUR"), ("sour", None), ("It is SOUR", None), ("", None)])
def test_a_label_is_the_whole_reply(tmp_path: Path, reply: str, value: str | None) -> None:
    assert play(constrained(task(tmp_path)), responses(reply)).answer.value == value


def test_a_letter_names_the_choice_at_its_place() -> None:
    task_ = question(trial=Trial(0, (2, 0, 1)))
    assert [play(constrained(task_), responses(text)).answer.value for text in (" A", "B", "D")] == [
        "sky",
        "desk",
        None,
    ]


@pytest.mark.parametrize(("text", "value"), [("1", None), ("13", "13"), ("2", "2")])
def test_a_reply_that_was_cut_off_counts_if_no_other_answer_begins_with_it(
    tmp_path: Path, text: str, value: str | None
) -> None:
    class Points(Weight):
        labels: ClassVar[tuple[str, ...]] = ("1", "2", "13")

    cut = (Response(text=text, finish="length"),)
    assert play(constrained(task(tmp_path, scenario=Points())), cut).answer.value == value
    assert play(constrained(task(tmp_path, scenario=Free())), cut).answer.value is None


def test_an_overflow_is_no_answer(tmp_path: Path) -> None:
    assert play(constrained(task(tmp_path)), (OVERFLOW,)).answer.value is None


def test_a_text_follows_the_schema_of_its_sample() -> None:
    schema = {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}
    played = play(constrained(invoice(json_schema=schema)), responses(' {"total": 5} '))
    grammar = played.generates[0].grammar or ""
    assert grammar.startswith('root ::= " "? value\nvalue ::= "{" space ("\\"total\\":" space integer) space "}"\n')
    assert played.answer.value == '{"total": 5}'


def test_a_text_that_is_to_be_no_json_is_free() -> None:
    assert play(constrained(invoice(json_schema=None)), responses("x")).generates[0].grammar is None


def test_the_truths_are_scored_if_a_metric_needs_it() -> None:
    task_ = capital(needs=frozenset({"likelihoods"}))
    task_.sample.context["json_schema"] = True  # type: ignore[index]
    played = play(constrained(task_), (Response(text="1"), scored(0.4, 0.2)))
    assert played.scores[0].continuations == (" Rome", " Roma")
    assert played.answer.likelihoods == scored(0.4, 0.2).likelihoods


def test_a_text_without_a_schema_or_with_several_turns_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^scenario 'invoices', row 7: its context has no 'json_schema', so that"):
        grammar_of(invoice())
    with pytest.raises(SettingsError, match=r"^scenario 'invoices', row 7: it has several turns, and a constrained"):
        grammar_of(invoice(Twice(), json_schema=True))
    with pytest.raises(SettingsError, match=r"^scenario 'invoices', row 7: it has several turns"):
        grammar_of(invoice(Deciding(), json_schema=True))
    with pytest.raises(
        DataError, match=r"^scenario 'invoices', row 7: its JSON schema cannot .* has 'pattern'; a gram"
    ):
        grammar_of(invoice(json_schema={"type": "string", "pattern": "x"}))
