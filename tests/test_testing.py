"""The scripted backend: chats and plain texts, replies and scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Generate, Message, Metric, Model, Prompt, Score
from pytest_puma.engine.engine import Engine
from pytest_puma.scenarios import TriageJiraScenario
from pytest_puma.testing import Cell, ScriptedBackend, evaluate, parse_strategy

SHOT = Message(role="user", content="Is it red?"), Message(role="assistant", content="A: red")
PROMPT = Prompt(
    messages=(Message(role="system", content="Colours."), *SHOT, Message(role="user", content="Is it blue?"))
)
TEXT = "\n\x02system\x03Colours.\n\x02user\x03Is it red?\n\x02assistant\x03A: red\n\x02user\x03Is it blue?"
PLAIN = "Colours.\n\nIs it red?\nA: red\n\nIs it blue?\n"


def colour_prompt(*, chat: bool, prefill: str = "") -> Prompt:
    return Prompt(messages=PROMPT.messages, prefill=prefill, chat=chat)


@pytest.mark.parametrize(("chat", "text"), [(True, TEXT), (False, PLAIN)])
def test_a_script_sees_the_text_of_the_prompt_without_its_prefill(*, chat: bool, text: str) -> None:
    seen: list[str] = []

    def script(shown: str) -> str:
        seen.append(shown)
        return "A: blue"

    (response,) = Engine(ScriptedBackend(script)).run(
        [Generate(prompt=colour_prompt(chat=chat, prefill="A:"), max_tokens=99)]
    )
    assert (response.text, response.finish, set(seen)) == (" blue", "stop", {text})


@pytest.mark.parametrize("chat", [True, False])
def test_a_table_answers_the_last_message(*, chat: bool) -> None:
    backend = ScriptedBackend({"red": "no", "blue": "yes"})
    (response,) = Engine(backend).run([Generate(prompt=colour_prompt(chat=chat), max_tokens=99)])
    assert response.text == "yes"


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_the_scripted_answer_is_the_most_probable_continuation(*, chat: bool, ends: bool) -> None:
    backend = ScriptedBackend(lambda _: "A: blue")
    request = Score(prompt=colour_prompt(chat=chat, prefill="A:"), continuations=(" blue", " bl", " red"), ends=ends)
    (response,) = Engine(backend).run([request])
    first, second, third = response.likelihoods
    assert [(each.tokens, each.greedy) for each in response.likelihoods] == [(5, True), (3, True), (4, False)]
    assert third.total < -50 < second.total == pytest.approx(0) == first.total
    assert (first.end, second.end) == ((pytest.approx(0), pytest.approx(-50)) if ends else (None, None))


def test_an_evaluation_has_the_scores_of_the_scenario() -> None:
    class Scored(TriageJiraScenario):
        scores = (
            Metric(name="letters", score=lambda _, each: len(each.text), bounds=None, better="neither"),
            Metric(name="rows", score=len, per="cell", better="neither"),
        )

    cell = Cell(
        scenario=Scored(),
        strategy=parse_strategy("zero_shot"),
        model=Model(name="scripted", path=Path("none.gguf")),
        samples=4,
    )
    outcome = evaluate(cell, Engine(ScriptedBackend({}, default="Minor")))
    assert (outcome["letters"], outcome["rows"]) == (5, 4)
    assert [each.scores["letters"] for each in outcome.predictions] == [5] * 4


def test_half_a_surrogate_pair_is_a_question_mark_as_for_a_model() -> None:
    prompt = Prompt(messages=(Message(role="user", content="half \udc80"),))
    (response,) = Engine(ScriptedBackend({"half ?": "\ud83d yes"})).run([Generate(prompt=prompt, max_tokens=99)])
    assert response.text == "? yes"
