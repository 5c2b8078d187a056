"""Trials that are asked again: which, with which seeds, and under which grammar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Generation, Response, SettingsError, Trial
from pytest_puma.strategies import Task, parse_strategy
from pytest_puma.strategies.retries import check_retries, conversation
from tests.strategies.play import OVERFLOW, Play, play, responses, task
from tests.strategies.test_choices import question, scored
from tests.strategies.test_constrained import invoice

SAMPLED = Generation(max_tokens=16, temperature=0.7)
LABELS = 'root ::= " "? ("SWEET" | "SOUR" | "BITTER")'


def asked(strategy: str, about: Task, *texts: str) -> Play:
    return play(conversation(parse_strategy(strategy), about), *(responses(text) for text in texts))


def retried(root: Path, *, retries: int = 2, **fields: Any) -> Task:
    return task(root, retries=retries, **fields)


@pytest.mark.parametrize("retries", [0, 2])
def test_a_valid_answer_is_not_asked_again(tmp_path: Path, retries: int) -> None:
    played = asked("zero_shot", retried(tmp_path, retries=retries), "SOUR")
    assert (len(played.rounds), played.answer.value, played.answer.tries) == (1, "SOUR", 1)


def test_without_retries_a_failure_is_the_answer(tmp_path: Path) -> None:
    answer = asked("zero_shot", retried(tmp_path, retries=0), "Lemon").answer
    assert (answer.value, answer.tries) == (None, 1)


def test_a_greedy_reply_is_asked_once_more_under_a_grammar_of_the_answers(tmp_path: Path) -> None:
    played = asked("zero_shot", retried(tmp_path, retries=5), "I cannot say.", "SOUR")
    first, second = played.generates
    assert (first.grammar, second.grammar, second.thinks) == (None, LABELS, False)
    assert (first.prompt, first.temperature) == (second.prompt, second.temperature)
    assert (played.answer.value, played.answer.tries) == ("SOUR", 2)
    assert [response.text for response in played.answer.responses] == ["SOUR"]
    cut = asked("zero_shot", retried(tmp_path, retries=5), "I cannot say.", "SWE")
    assert (cut.answer.value, cut.answer.tries) == (None, 2)


def test_a_sampled_reply_gets_the_next_seed_of_its_trial(tmp_path: Path) -> None:
    texts = ("?", "??", "SOUR")
    played = asked("zero_shot", retried(tmp_path, generation=SAMPLED), *texts)
    seeds = [request.seed for request in played.generates]
    assert len(set(seeds)) == 3
    assert {request.grammar for request in played.generates} == {None}
    assert (played.answer.value, played.answer.tries) == ("SOUR", 3)
    again = asked("zero_shot", retried(tmp_path, generation=SAMPLED), *texts)
    assert [request.seed for request in again.generates] == seeds
    other = asked("zero_shot", retried(tmp_path, generation=SAMPLED, trial=Trial(1)), *texts)
    assert not {request.seed for request in other.generates} & {*seeds}
    plain = asked("zero_shot", retried(tmp_path, generation=SAMPLED, retries=0), "SOUR")
    assert plain.generates[0].seed == seeds[0]


def test_retries_end(tmp_path: Path) -> None:
    answer = asked("zero_shot", retried(tmp_path, generation=SAMPLED), "?", "??", "???").answer
    assert (answer.value, answer.tries) == (None, 3)


def test_a_strategy_that_reasons_writes_its_answer_line(tmp_path: Path) -> None:
    played = asked("zero_shot_cot", retried(tmp_path), "Lemons are yellow.", " Answer: SOUR")
    assert played.generates[1].grammar == 'root ::= " "? "Answer: " ("SWEET" | "SOUR" | "BITTER")'
    assert played.answer.value == "SOUR"


def test_only_the_decision_of_two_turns_is_under_the_grammar(tmp_path: Path) -> None:
    played = asked("egi", retried(tmp_path), "How ripe?", "Yes.", "How ripe?", "Answer: SOUR")
    assert [request.grammar is not None for request in played.generates] == [False, False, False, True]
    assert replace(played.generates[2], seed=played.generates[0].seed) == played.generates[0]
    assert played.answer.value == "SOUR"


def test_an_overflow_and_a_score_are_not_asked_again(tmp_path: Path) -> None:
    played = play(conversation(parse_strategy("zero_shot"), retried(tmp_path)), (OVERFLOW,))
    assert (played.answer.value, played.answer.tries) == (None, 1)
    about = replace(question(), retries=2)
    assert play(conversation(parse_strategy("option_scoring"), about), (scored(0.1, 0.6, 0.3),)).answer.tries == 1


def test_choices_are_retried_as_letters() -> None:
    played = asked("zero_shot", replace(question(trial=Trial(0, (2, 0, 1))), retries=1), "no idea", " A")
    assert played.generates[1].grammar == 'root ::= " "? ("A" | "B" | "C")'
    assert played.answer.value == "sky"


def test_greedy_texts_need_a_schema() -> None:
    free = replace(invoice(), retries=1)
    with pytest.raises(SettingsError, match=r"^retries is 1 at temperature 0, where a retry .*: scenario 'invoices'"):
        check_retries(parse_strategy("zero_shot"), free)
    check_retries(parse_strategy("zero_shot"), replace(free, generation=SAMPLED))
    check_retries(parse_strategy("zero_shot"), replace(free, retries=0))
    check_retries(parse_strategy("option_scoring"), free)
    bound = replace(invoice(json_schema={"type": "boolean"}), retries=1)
    assert asked("zero_shot", bound, " ", "true").answer.value == "true"
    # None states that the reply is no JSON, so that nothing can be asked but the same.
    assert asked("zero_shot", replace(invoice(json_schema=None), retries=1), " ").answer.tries == 1


def test_the_answer_of_a_retry_has_the_likelihoods_of_its_own_requests() -> None:
    about = replace(invoice(json_schema={"type": "boolean"}), retries=1, needs=frozenset({"likelihoods"}))
    rounds = ((Response(text=" "), scored(0.5)), (Response(text="true"), scored(0.25)))
    answer = play(conversation(parse_strategy("zero_shot"), about), *rounds).answer
    assert answer.likelihoods == scored(0.25).likelihoods
