"""Conversations are held together, as many at once as memory allows."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_puma import talks
from pytest_puma.core import Answer, Generate, Message, Prompt, Request, Response
from pytest_puma.engine.engine import Engine
from pytest_puma.testing import ScriptedBackend


def conversation(
    number: int, going_on: set[int], most: list[int]
) -> Generator[tuple[Request, ...], tuple[Response, ...], Answer]:
    """Two turns; notes how many others go on beside it."""
    going_on.add(number)
    said = ""
    for turn in range(2):
        prompt = Prompt(messages=(Message(role="user", content=f"{turn} of {number} {said}"),))
        most.append(len(going_on))
        responses = yield (Generate(prompt=prompt, max_tokens=1000),)
        said = responses[0].text
    going_on.remove(number)
    return Answer(value=said, responses=responses)


@pytest.mark.parametrize("together", [1, 4, 100])
def test_so_many_conversations_go_on_at_once(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talks, "TOGETHER", together)
    going_on: set[int] = set()
    most: list[int] = []
    told: list[tuple[int, int]] = []
    engine = Engine(ScriptedBackend(lambda prompt: prompt.rpartition(" of ")[2].split()[0]))
    held = talks.hold(
        [conversation(number, going_on, most) for number in range(10)], engine, lambda *said: told.append(said)
    )
    assert [talk.answer and talk.answer.value for talk in held] == [str(number) for number in range(10)]
    assert max(most) == min(together, 10)
    assert told == sorted(told)
    assert told[-1] == (10, 10)


def test_of_a_long_prompt_the_end_is_kept() -> None:
    going_on: set[int] = set()
    long = "x" * 700
    (talk,) = talks.hold([conversation(7, going_on, [])], Engine(ScriptedBackend(lambda _: long)))
    assert talk.prompt == f"1 of 7 {long}"[-600:]
