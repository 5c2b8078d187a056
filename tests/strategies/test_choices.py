"""Strategies on choices and completions: what they request, and the answers they make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_puma.core import Choice, DataError, Generation, Likelihood, Message, Response, Sample, Trial
from pytest_puma.core.metric import Need
from pytest_puma.strategies import Task, parse_strategy
from pytest_puma.strategies.composed import Composed
from pytest_puma.strategies.conversations import cloze_scoring, direct, option_scoring, self_consistency
from tests.composed import QUESTION, Capitals, Quiz
from tests.strategies.play import OVERFLOW, play, responses

GENERATION = Generation(max_tokens=16, temperature=0.0)


def question(*, cloze: bool = False, needs: frozenset[Need] = frozenset(), **fields: Any) -> Task:
    choices = tuple(Choice(text=text, right=text == "desk") for text in ("desk", "sea", "sky"))
    sample = Sample(id="s", fields=QUESTION, gold="desk", units=("s",), choices=choices)
    wording = Composed(scenario=Quiz(), cloze=cloze)
    return Task(scenario=Quiz(), sample=sample, wording=wording, generation=GENERATION, needs=needs, **fields)


def capital(scenario: Capitals | None = None, *, needs: frozenset[Need] = frozenset(), **fields: Any) -> Task:
    scenario = scenario or Capitals()
    row = {"country": "Italy", "capital": ["Rome", "Roma"]}
    sample = Sample(id="s", fields=row, gold="Rome", units=("s",), references=("Rome", "Roma"))
    wording = Composed(scenario=scenario)
    return Task(scenario=scenario, sample=sample, wording=wording, generation=GENERATION, needs=needs, **fields)


def scored(*probabilities: float) -> Response:
    likelihoods = tuple(
        Likelihood(total=math.log(each), end=None, tokens=1, greedy=each > 0.5) for each in probabilities
    )
    logprobs = tuple(each.total for each in likelihoods)
    return Response(logprobs=logprobs, likelihoods=likelihoods, finish="scored")


def test_letters_are_scored_in_the_order_shown_and_name_their_choices() -> None:
    task = question(trial=Trial(0, (2, 0, 1)))
    played = play(option_scoring(task), (scored(0.1, 0.6, 0.3),))
    (request,) = played.scores
    assert (request.continuations, request.ends) == ((" A", " B", " C"), False)
    assert played.answer.value == "desk"
    assert played.answer.probabilities == pytest.approx({"sky": 0.1, "desk": 0.6, "sea": 0.3})


class Bare(Quiz):
    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - of any row
        return ""


@pytest.mark.parametrize("chat", [True, False])
def test_a_space_comes_before_a_choice_only_after_a_cue(*, chat: bool) -> None:
    task = question(cloze=True, chat=chat)
    bare = replace(task, scenario=Bare(), wording=Composed(scenario=Bare(), cloze=True))
    for each, texts in ((task, (" desk", " sea", " sky")), (bare, ("desk", "sea", "sky"))):
        (request,) = play(cloze_scoring(each), (scored(0.1, 0.6, 0.3),)).scores
        assert request.continuations == texts


def test_cloze_scores_the_texts_of_the_choices_without_an_end() -> None:
    played = play(cloze_scoring(question(cloze=True)), (scored(0.1, 0.7, 0.2),))
    (request,) = played.scores
    assert (request.continuations, request.ends) == ((" desk", " sea", " sky"), False)
    assert [message.content for message in request.prompt.messages] == ["Question: Where is a pen?"]
    assert played.answer.value == "sea"
    assert played.answer.likelihoods == scored(0.1, 0.7, 0.2).likelihoods
    assert played.answer.unconditional == ()


def test_texts_are_scored_in_the_order_of_the_data_whatever_order_is_shown() -> None:
    wording = Composed(scenario=Quiz(), texts=True)
    played = play(
        cloze_scoring(replace(question(trial=Trial(0, (2, 0, 1))), wording=wording)), (scored(0.1, 0.7, 0.2),)
    )
    (request,) = played.scores
    assert request.continuations == (" desk", " sea", " sky")
    assert [message.content for message in request.prompt.messages] == [
        "Question: Where is a pen?\n- sky\n- desk\n- sea"
    ]
    assert played.answer.value == "sea"


def test_the_example_of_a_scored_text_is_a_text() -> None:
    example = {**QUESTION, "gold_label": "desk", "rationale": ""}
    task = replace(question(), wording=Composed(scenario=Quiz(), texts=True), examples=[example])
    assert [message.content for message in task.prompt().messages][:2] == [
        "Question: Where is a pen?\n- desk\n- sea\n- sky",
        "Answer: desk",
    ]


def test_cloze_scores_the_texts_without_the_question_if_a_metric_needs_it() -> None:
    task = question(cloze=True, needs=frozenset({"unconditional"}))
    played = play(cloze_scoring(task), (scored(0.1, 0.7, 0.2), scored(0.3, 0.3, 0.3)))
    first, second = played.scores
    assert second.continuations == first.continuations
    assert second.prompt.prefill == "Answer:"
    assert "pen" not in str(second.prompt)
    assert played.answer.unconditional == scored(0.3, 0.3, 0.3).likelihoods
    assert played.answer.probabilities == pytest.approx({"desk": 0.1, "sea": 0.7, "sky": 0.2})


def test_an_overflow_of_either_prompt_is_no_answer() -> None:
    task = question(cloze=True, needs=frozenset({"unconditional"}))
    answer = play(cloze_scoring(task), (scored(0.1, 0.7, 0.2), OVERFLOW)).answer
    assert (answer.value, answer.failure) == (None, "overflow")


@pytest.mark.parametrize(("reply", "expected"), [("B", "sea"), ("It is a desk.", "desk"), ("I do not know", None)])
def test_a_written_letter_or_text_is_read(reply: str, expected: str | None) -> None:
    assert play(direct(question()), responses(reply)).answer.value == expected


def test_self_consistency_takes_the_majority_of_choices() -> None:
    texts = ("Answer: A", "Answer: B", "So.\nAnswer: (A)", "Answer: desk", "no idea")
    answer = play(self_consistency(question(), answers=5), responses(*texts)).answer
    assert answer.value == "desk"
    assert answer.probabilities == pytest.approx({"desk": 0.75, "sea": 0.25, "sky": 0.0})


def test_a_completion_is_the_text_after_processing() -> None:
    class Loud(Capitals):
        def post_process(self, text: str, sample: Sample) -> str | None:  # noqa: ARG002
            return text.strip().upper() or None

    assert play(direct(capital(Loud())), responses(" Rome\n")).answer.value == "ROME"
    assert play(direct(capital(Loud())), responses(" ")).answer.value is None


def test_the_truths_are_scored_after_the_same_prompt_if_a_metric_needs_it() -> None:
    played = play(direct(capital(needs=frozenset({"likelihoods"}))), (Response(text="Rome"), scored(0.4, 0.2)))
    assert played.scores[0].continuations == (" Rome", " Roma")
    assert played.scores[0].prompt == played.generates[0].prompt
    assert played.answer.likelihoods == scored(0.4, 0.2).likelihoods
    assert play(direct(capital()), responses("Rome")).scores == []


class Dialogue(Capitals):
    def turns(self, item: dict[str, Any]) -> Sequence[str]:
        return (f"Capital of {item['country']}?", "Are you sure?", "In one word:")


def test_a_dialogue_asks_each_turn_after_the_replies_before() -> None:
    played = play(direct(capital(Dialogue())), *(responses(text) for text in ("Rome.", "Yes.", "Rome")))
    second, third = (request.prompt for request in played.generates[1:])
    assert [(message.role, message.content) for message in second.messages] == [
        ("user", "Capital of Italy?"),
        ("assistant", "A:Rome."),
        ("user", "Are you sure?"),
    ]
    assert [message.content for message in third.messages][-2:] == ["Yes.", "In one word:"]
    assert third.prefill == ""
    assert played.answer.value == "Rome"
    assert [response.text for response in played.answer.responses] == ["Rome.", "Yes.", "Rome"]
    assert len({request.seed for request in played.generates}) == 3


class Deciding(Capitals):
    """It asks until the reply is right, or three times."""

    def reply_to(self, item: dict[str, Any], said: Sequence[str]) -> str | None:
        return None if item["capital"][0] in said[-1] or len(said) == 3 else f"Not {said[-1]}."


class DecidingLater(Deciding):
    def turns(self, item: dict[str, Any]) -> Sequence[str]:
        return (f"Capital of {item['country']}?", "Are you sure?")


@pytest.mark.parametrize(
    ("scenario", "replies", "asked"),
    [
        (Deciding(), ("Rome",), []),
        (Deciding(), ("<think>Rome?</think>Oslo", "Rome"), ["Not Oslo."]),
        (Deciding(), ("Oslo", "Lima", "Bern"), ["Not Oslo.", "Not Lima."]),
        (DecidingLater(), ("Rome", "No", "Rome"), ["Are you sure?", "Not No."]),
    ],
)
def test_a_scenario_decides_the_next_turn_by_what_was_said(
    scenario: Capitals, replies: Sequence[str], asked: Sequence[str]
) -> None:
    played = play(direct(capital(scenario)), *map(responses, replies))
    assert [request.prompt.messages[-1].content for request in played.generates[1:]] == asked
    assert played.answer.value == replies[-1]
    assert len({request.seed for request in played.generates}) == len(replies)


class Endless(Capitals):
    def reply_to(self, item: dict[str, Any], said: Sequence[str]) -> str | None:  # noqa: ARG002
        return {"int": 3, "blank": " ", "raise": said[9]}[said[-1]] if said[-1] != "go" else "Go on."  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("replies", "fault"),
    [
        (
            ["go"] * 9 + ["int"],
            r"reply_to\(\) after 10 replies returned 3; expected the next message of the user, or None",
        ),
        (["go"] * 9 + ["blank"], r"reply_to\(\) after 10 replies returned ' ';"),
        (["raise"], r"reply_to\(\) after 1 replies raised IndexError: .*; expected the next message, or None"),
        (["go"] * 64, r"reply_to\(\) after 64 replies asks on; expected None at the end"),
    ],
)
def test_a_turn_that_cannot_be_names_the_row(replies: Sequence[str], fault: str) -> None:
    with pytest.raises(DataError, match=f"^scenario 'capitals', row s: {fault}"):
        play(direct(capital(Endless())), *map(responses, replies))


def test_a_dialogue_ends_at_an_overflow() -> None:
    played = play(direct(capital(Dialogue())), responses("Rome."), (OVERFLOW,))
    assert played.answer.value is None
    assert len(played.answer.responses) == 2


def test_a_kind_has_its_own_default_strategies() -> None:
    assert Quiz().kind.strategies == ("zero_shot", "option_scoring", "cloze_scoring")
    assert Capitals().kind.strategies == ("zero_shot", "few_shot_3")


@pytest.mark.parametrize(
    ("name", "shots"),
    [("option_scoring_5", 5), ("cloze_scoring_3", 3), ("cloze_scoring", 0), ("text_scoring", 0), ("text_scoring_2", 2)],
)
def test_scoring_strategies_have_examples(name: str, shots: int) -> None:
    strategy = parse_strategy(name)
    assert (strategy.name, strategy.shots) == (name, shots)


def test_the_message_of_an_earlier_reply_has_no_reasoning() -> None:
    played = play(direct(capital(Dialogue())), *(responses(text) for text in ("<think>x</think>Rome.", "Yes.", "R")))
    assert played.generates[1].prompt.messages[1] == Message(role="assistant", content="A:Rome.")
