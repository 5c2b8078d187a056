from __future__ import annotations

from pathlib import Path

from pytest_puma.core import Generation
from pytest_puma.strategies.conversations import egi
from tests.strategies.play import OVERFLOW, play, responses, task

NOTES = "<think>Hm. SWEET?</think>How ripe? Answer: SWEET"


def test_the_second_turn_holds_the_first_prompt_the_notes_and_the_question(tmp_path: Path) -> None:
    question = task(tmp_path)
    played = play(egi(question), responses(NOTES), responses("Answer: SOUR"))
    first, second = played.generates
    assert first == question.generate(question.prompt())
    assert [message.role for message in second.prompt.messages] == ["system", "user", "assistant", "user"]
    assert second.prompt.messages[:2] == first.prompt.messages
    assert second.prompt.messages[2].content == "How ripe? Answer: SWEET"
    assert second.prompt.messages[3].content == "So, SWEET or SOUR or BITTER?"
    assert second.seed != first.seed


def test_only_the_decision_is_read(tmp_path: Path) -> None:
    answer = play(egi(task(tmp_path)), responses(NOTES), responses("SWEET no.\nAnswer: SOUR")).answer
    assert answer.value == "SOUR"
    assert [response.text for response in answer.responses] == [NOTES, "SWEET no.\nAnswer: SOUR"]
    assert play(egi(task(tmp_path)), responses(NOTES), responses("no idea")).answer.value is None


def test_a_grammar_binds_the_decision_alone(tmp_path: Path) -> None:
    settings = Generation(max_tokens=9, temperature=0.0, grammar='root ::= "Answer: SOUR"')
    first, second = play(egi(task(tmp_path, generation=settings)), responses(NOTES), responses("")).generates
    assert first.grammar is None
    assert second.grammar == settings.grammar


def test_an_overflow_of_the_first_turn_ends_it(tmp_path: Path) -> None:
    played = play(egi(task(tmp_path)), (OVERFLOW,))
    assert played.answer.value is None
    assert played.answer.responses == (OVERFLOW,)


def test_an_overflow_of_the_second_turn_is_no_answer(tmp_path: Path) -> None:
    answer = play(egi(task(tmp_path)), responses(NOTES), (OVERFLOW,)).answer
    assert answer.value is None
    assert answer.responses[1] == OVERFLOW
