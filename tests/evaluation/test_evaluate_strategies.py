"""A strategy's side of the contract: requests, responses and an answer."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import (
    Answer,
    Conversation,
    Generate,
    PumaError,
    ask,
)
from pytest_puma.strategies import ALL, Strategy, Task
from tests.factories import cell, evaluated


@pytest.mark.parametrize("strategy", [*ALL, "best_of_4", "guided_50", "few_shot_similar_3", "few_shot_diverse_3"])
def test_every_strategy_reads_the_scripted_answer(strategy: str) -> None:
    outcome = evaluated(cell(strategy=strategy))
    assert {prediction.answer for prediction in outcome.predictions} == {"Major"}
    assert outcome["accuracy"] == 3 / 12
    assert outcome.cell == f"triage_jira-{strategy}@script"


def _mute(_: Task) -> Conversation:
    yield ()
    return Answer(value=None, responses=())


def _silent(task: Task) -> Any:
    yield from ask(task.generate(task.prompt()))


def _thoughtless(_: Task) -> Conversation:
    yield from ()
    return Answer(value="Major", responses=())


def _two_requests(task: Task) -> Conversation:
    first = yield from ask(task.generate(task.prompt()))
    second: Generate = task.generate(task.prompt(), index=1)
    other = yield from ask(second)
    return Answer(value=task.read(other), responses=(first, other))


def _hasty(task: Task) -> Any:
    return Answer(value=task.scenario.valid_labels()[0], responses=())


def _prompting(task: Task) -> Any:
    yield task.prompt()


def _lone(task: Task) -> Any:
    response = yield task.generate(task.prompt())
    return Answer(value=task.read(response), responses=response)


@pytest.mark.parametrize(
    ("converse", "sentence"),
    [
        (_mute, "the function _mute yields no request; expected a request, which task.generate"),
        (_silent, r"the function _silent returns None; expected an Answer\(value=..., responses=...\)"),
        (_thoughtless, "without a response"),
        (_hasty, r"returns Answer\(value='Critical', .* and has no `yield`; expected a request"),
        (_prompting, r"the function _prompting yields Prompt\(messages=.{1,80}\.\.\.; expected a request"),
        (_lone, r"Answer\(responses=...\) is a Response; expected a tuple: responses=\(response,\)"),
    ],
)
def test_a_strategy_that_breaks_the_contract_is_refused(converse: Any, sentence: str) -> None:
    own = {"own": Strategy(name="own", converse=converse, templates=("zero_shot",))}
    with pytest.raises(PumaError, match=sentence):
        evaluated(cell(strategy=own["own"]))


def _plainly(task: Task) -> Conversation:
    first = yield task.generate(task.prompt())
    second, third = yield (task.generate(task.prompt(), index=1), task.generate(task.prompt(), index=2))
    listed = yield [task.generate(task.prompt(), index=3)]  # type: ignore[misc]
    return Answer(value=task.read(third), responses=(first, second, third, *listed))


def test_a_bare_request_is_answered_by_a_bare_response() -> None:
    own = {"own": Strategy(name="own", converse=_plainly, templates=("zero_shot",))}
    outcome = evaluated(cell(strategy=own["own"]))
    assert outcome["accuracy"] == 3 / 12
    assert {prediction.raw for prediction in outcome.predictions} == {("Major",) * 4}


def test_an_own_strategy_may_send_any_number_of_requests() -> None:
    own = {"own": Strategy(name="own", converse=_two_requests, templates=("zero_shot",))}
    outcome = evaluated(cell(strategy=own["own"]))
    assert [len(prediction.raw) for prediction in outcome.predictions] == [2] * 12
