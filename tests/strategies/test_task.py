from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma import strategies
from pytest_puma.core import DataError, Generation, Message, Prompt, Response, SettingsError, Trial
from pytest_puma.core.conversation import Finish
from pytest_puma.strategies import Task, parse_strategy, resolve_generation
from tests.factories import sample
from tests.strategies.play import Taste, Weight, task

SEED_OF_F1 = 14596200867546409595
PROMPT = Prompt(messages=(Message(role="user", content="?"),))


def test_a_template_sees_fields_examples_labels_and_scenario(tmp_path: Path) -> None:
    source = (
        "{{ title }} {{ instance.taste }} {{ labels[0] }} {{ scenario.name }} {{ scenario.task_type }} {{ examples }}"
    )
    prompt = task(tmp_path, template=source, examples=({"title": "Plum"},)).prompt()
    assert prompt.messages[0].content == "Lemon SOUR SWEET taste classification [{'title': 'Plum'}]"


def test_a_field_that_is_called_labels_stays_reachable_in_the_instance(tmp_path: Path) -> None:
    question = task(tmp_path, template="{{ labels | length }} {{ instance.labels }}")
    assert replace(question, sample=sample(fields={"labels": "ui"})).prompt().messages[0].content == "3 ui"


def test_a_later_turn_follows_the_chat_so_far(tmp_path: Path) -> None:
    question = task(tmp_path)
    first = question.prompt()
    reply = Message(role="assistant", content="Hm.")
    second = question.prompt("decide", (*first.messages, reply))
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[:3] == (*first.messages, reply)
    assert second.messages[3].content == "So, SWEET or SOUR or BITTER?"


def test_a_request_is_decoded_as_the_settings_say(tmp_path: Path) -> None:
    settings = Generation(
        max_tokens=7, temperature=0.5, top_p=0.9, top_k=40, min_p=0.1, grammar="root ::= x", logprobs=True
    )
    request = task(tmp_path, generation=settings).generate(PROMPT)
    for name in ("max_tokens", "temperature", "top_p", "top_k", "min_p", "grammar", "logprobs"):
        assert getattr(request, name) == getattr(settings, name)
    assert request.prompt == PROMPT


def test_settings_that_leave_a_choice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="resolve_generation"):
        task(tmp_path, generation=Generation(max_tokens=7)).generate(PROMPT)


def test_resolved_settings_leave_no_choice(tmp_path: Path) -> None:
    settings = resolve_generation(parse_strategy("egi"), Generation())
    assert task(tmp_path, generation=settings).generate(PROMPT).max_tokens == 200


def test_a_seed_follows_from_cell_seed_scenario_sample_and_purpose(tmp_path: Path) -> None:
    seeds = [
        task(tmp_path).derived_seed(0),
        task(tmp_path).derived_seed(1),
        task(tmp_path).derived_seed("tie"),
        task(tmp_path, seed=43).derived_seed(0),
        task(tmp_path, sample_id="f2").derived_seed(0),
        task(tmp_path, scenario=Weight()).derived_seed(0),
    ]
    assert len(set(seeds)) == len(seeds)


def test_each_trial_has_its_own_seed_and_the_first_that_of_a_single_one(tmp_path: Path) -> None:
    first, second, third = (replace(task(tmp_path), trial=Trial(index)) for index in range(3))
    assert first.derived_seed(0) == SEED_OF_F1
    assert len({each.derived_seed(purpose) for each in (first, second, third) for purpose in (0, 1, "tie")}) == 9


def test_a_changed_task_renders_its_prompt_anew(tmp_path: Path) -> None:
    one = task(tmp_path)
    other = replace(one, sample=replace(one.sample, fields={**one.sample.fields, "title": "Plum"}))
    assert one.prompt() == one.prompt()
    assert [each.prompt() == one.prompt() for each in (other, one)] == [False, True]


def test_a_seed_is_the_same_in_every_process(tmp_path: Path) -> None:
    assert task(tmp_path).derived_seed(0) == SEED_OF_F1
    assert task(tmp_path).generate(PROMPT).seed == SEED_OF_F1


def test_scoring_asks_for_every_option(tmp_path: Path) -> None:
    assert task(tmp_path).score(PROMPT, ["a", "b"]).continuations == ("a", "b")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SOUR", "SOUR"),
        ("it is SOUR indeed", "SOUR"),
        ("<think>SWEET? no</think>SOUR", "SOUR"),
        ("SALTY", None),
        ("sour", None),
        ("", None),
        ("<think>SWEET or SOUR or", None),
    ],
)
def test_a_label_is_read_outside_of_reasoning_and_must_be_valid(tmp_path: Path, text: str, value: str | None) -> None:
    assert task(tmp_path, scenario=Taste()).read(text) == value


@pytest.mark.parametrize(
    "read", [Task.read, Task.read_final, lambda question, text: question.read_final(f"Answer: {text}")]
)
def test_an_error_of_a_parser_names_the_sample_the_reply_and_the_line(
    tmp_path: Path, read: Callable[[Task, str], str | None]
) -> None:
    class Hasty(Taste):
        """Finds a label in every reply, it believes."""

        def parse_response(self, response: str) -> str | None:
            return {"SWEET": "SWEET", "SOUR": "SOUR"}[response]

        def parse_conclusion(self, reply: str) -> str | None:
            return self.parse_response(reply)

    expected = (
        r"scenario 'taste', sample 'f1': reading the reply 'None of them' raised KeyError: 'None of them' "
        r"\(test_task.py:\d+\); expected an answer, or None if the reply has none"
    )
    with pytest.raises(DataError, match=expected):
        read(task(tmp_path, scenario=Hasty()), "None of them")


def test_a_pattern_of_a_parser_that_never_ends_is_an_error_that_names_the_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Endless(Taste):
        """Needs 2 ** 40 steps."""

        def parse_response(self, response: str) -> str | None:
            return "SOUR" if re.match(r"(a+)+$", response) else None

    monkeypatch.setattr(strategies.task, "READING", 0.3)
    expected = r"sample 'f1': reading the reply 'a+!' raised TimeoutError: over 0.3 seconds of computing, as a regular "
    with pytest.raises(DataError, match=expected):
        task(tmp_path, scenario=Endless()).read("a" * 40 + "!")


@pytest.mark.parametrize(
    ("text", "value"), [("5", "5"), ("about 4.5", "4.5"), ("many", None), ("nan", None), ("1e999", None), ("", None)]
)
def test_a_number_must_be_finite(tmp_path: Path, text: str, value: str | None) -> None:
    assert task(tmp_path, scenario=Weight()).read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SWEET at first.\nAnswer: SOUR", "SOUR"),
        ("Answer: SWEET\nNo.\nAnswer: SOUR", "SOUR"),
        ("<think>Answer: SWEET</think>\nAnswer: SOUR", "SOUR"),
        ("SOUR", "SOUR"),
        ("**Sour**.", "SOUR"),
        ("It is SOUR", None),
        ("Sharp. Answer: SOUR", "SOUR"),
        ("Answer: SOUR\nUser: And sugar?\nAnswer: SWEET", "SOUR"),
        ("Question: And sugar? Answer: SWEET", None),
        ("Answer: SALTY", None),
        ("<think>Answer: SWEET", None),
        ("", None),
    ],
)
def test_the_answer_line_of_a_chain_of_thought_is_read_or_a_label_that_is_all_there_is(
    tmp_path: Path, text: str, value: str | None
) -> None:
    assert task(tmp_path).read_final(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("5", "5"), ("**2.5**", "2.5"), ("-1", "-1"), ("about 5", None), ("1 2", None), ("", None)]
)
def test_a_number_that_is_all_there_is_needs_no_answer_line(tmp_path: Path, text: str, value: str | None) -> None:
    assert task(tmp_path, scenario=Weight()).read_final(text) == value


@pytest.mark.parametrize("finish", ["length", "context"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SOUR", "SOUR"),
        ("It is SOUR, as lemons are", "SOUR"),
        ("Lemon.\nSOUR", "SOUR"),
        ("The taste is SOUR", None),  # , SWEET or BITTER
        ("It is a taste: SO", None),
    ],
)
def test_a_label_at_the_end_of_a_cut_reply_counts_only_alone(
    tmp_path: Path, finish: Finish, text: str, value: str | None
) -> None:
    assert task(tmp_path).read(Response(text=text, finish=finish)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", None), ("It is 5", None), ("5 5", "5"), ("5\n", "5"), ("Of 8 grams, or 1", None), ("", None)],
)
def test_a_number_at_the_end_of_a_cut_reply_may_be_incomplete(tmp_path: Path, text: str, value: str | None) -> None:
    question = task(tmp_path, scenario=Weight())
    assert question.read(Response(text=text, finish="length")) == value
    assert question.read(Response(text=text)) == question.read(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Lemons sting.\nAnswer: SOUR", "SOUR"),
        ("Answer: SOUR\nLemons sting as", "SOUR"),
        ("Answer: SWEET. Or not. Answer: SOUR", "SOUR"),
        ("Answer: SO", None),
    ],
)
def test_the_answer_line_at_the_end_of_a_cut_reply(tmp_path: Path, text: str, value: str | None) -> None:
    assert task(tmp_path).read_final(Response(text=text, finish="length")) == value


@pytest.mark.parametrize(("text", "value"), [("Answer: 1", None), ("Answer: 1 gram, as lem", "1")])
def test_the_number_of_an_answer_line_must_be_complete(tmp_path: Path, text: str, value: str | None) -> None:
    class Grams(Weight):
        """Takes the first word."""

        def parse_response(self, response: str) -> str | None:
            return response.split(maxsplit=1)[0]

    assert task(tmp_path, scenario=Grams()).read_final(Response(text=text, finish="length")) == value


def test_a_bias_is_that_of_one_request(tmp_path: Path) -> None:
    question = task(tmp_path)
    assert question.generate(question.prompt(), bias={" SOUR": 2.0}).bias == {" SOUR": 2.0}
    assert question.generate(question.prompt()).bias is None
