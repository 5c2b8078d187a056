"""The text at the end of each prompt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_puma.core import Message
from pytest_puma.strategies.composed import Composed
from pytest_puma.strategies.conversations import direct, egi, option_scoring
from tests.composed import QUESTION, Quiz
from tests.strategies.play import play, responses, task
from tests.strategies.test_choices import Dialogue, capital, question, scored

SUFFIX = " /no_think"


def test_the_last_message_of_the_user_ends_with_the_suffix(tmp_path: Path) -> None:
    plain, ended = task(tmp_path).prompt(), task(tmp_path, prompt_suffix=SUFFIX).prompt()
    *before, last = plain.messages
    assert ended == replace(plain, messages=(*before, replace(last, content=f"{last.content}{SUFFIX}")))


def test_examples_stay_as_they_are() -> None:
    example = {**QUESTION, "gold_label": "desk", "rationale": ""}
    about = replace(question(), prompt_suffix=SUFFIX, examples=[example])
    first, _, last = about.prompt().messages
    assert not first.content.endswith(SUFFIX)
    assert last.content.endswith(f"C. sky{SUFFIX}")


def test_every_message_of_a_dialogue_ends_with_it_once() -> None:
    about = replace(capital(Dialogue()), prompt_suffix=SUFFIX)
    last = play(direct(about), *(responses(text) for text in ("Rome.", "Yes.", "Rome"))).generates[-1].prompt
    asked = [message.content for message in last.messages if message.role == "user"]
    assert asked == [f"Capital of Italy?{SUFFIX}", f"Are you sure?{SUFFIX}", f"In one word:{SUFFIX}"]


def test_both_turns_of_a_template_end_with_it(tmp_path: Path) -> None:
    played = play(egi(task(tmp_path, prompt_suffix=SUFFIX)), responses("?"), responses("Answer: SOUR"))
    assert all(request.prompt.messages[-1].content.endswith(SUFFIX) for request in played.generates)


def test_options_are_scored_after_it() -> None:
    (request,) = play(option_scoring(replace(question(), prompt_suffix=SUFFIX)), (scored(0.1, 0.6, 0.3),)).scores
    assert request.prompt.messages[-1].content.endswith(SUFFIX)
    assert request.prompt.prefill == "Answer:"


class Continued(Quiz):
    def continued(self, item: dict[str, object]) -> str:
        return str(item["question"])


def test_a_text_that_is_continued_has_no_message_of_the_user() -> None:
    about = replace(question(chat=False), scenario=Continued(), wording=Composed(scenario=Continued(), cloze=True))
    assert replace(about, prompt_suffix=SUFFIX).prompt() == about.prompt()
    example = {**QUESTION, "gold_label": "desk", "rationale": ""}
    shown = replace(about, prompt_suffix=SUFFIX, examples=[example]).prompt().messages
    assert all(isinstance(message, Message) and SUFFIX not in message.content for message in shown)
