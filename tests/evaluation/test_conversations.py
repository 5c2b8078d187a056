"""Conversations are held together, as many at once as memory allows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

from pytest_puma.core import Answer, Conversation, Generate, Message, Prompt, Request, Response, SharedPrompts, ask
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation import conversations
from pytest_puma.testing import ScriptedBackend


def conversation(
    number: int, going_on: set[int], most: list[int]
) -> Generator[tuple[Request, ...], tuple[Response, ...], Answer]:
    """Two turns; notes how many others go on beside it."""
    going_on.add(number)
    texts = ""
    for turn in range(2):
        prompt = Prompt(messages=(Message(role="user", content=f"{turn} of {number} {texts}"),))
        most.append(len(going_on))
        responses = yield (Generate(prompt=prompt, max_tokens=1000),)
        texts = responses[0].text
    going_on.remove(number)
    return Answer(value=texts, responses=responses)


@pytest.mark.parametrize("together", [1, 4, 100])
def test_so_many_conversations_go_on_at_once(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", together)
    going_on: set[int] = set()
    most: list[int] = []
    reports: list[tuple[int, int]] = []
    engine = Engine(ScriptedBackend(lambda prompt: prompt.rpartition(" of ")[2].split()[0]))
    held = conversations.run_conversations(
        [conversation(number, going_on, most) for number in range(10)], engine, lambda *texts: reports.append(texts)
    )
    assert [state.answer and state.answer.value for state in held] == [str(number) for number in range(10)]
    assert max(most) == min(together, 10)
    assert reports == sorted(reports)
    assert reports[-1] == (10, 10)


def test_a_block_alone_gives_what_it_gives_after_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 4)

    def alike(number: int) -> Conversation:
        content = f"{'The same words. ' * 9} of {number}"
        prompt = Prompt(messages=(Message(role="user", content=content),))
        response = yield from ask(Generate(prompt=prompt, max_tokens=9))
        return Answer(value=response.text, responses=(response,))

    def cached(numbers: Sequence[int]) -> list[tuple[str, int]]:
        """The texts, and the prompt tokens that were in the cache."""
        engine = Engine(ScriptedBackend(lambda prompt: prompt.rpartition(" of ")[2].split()[0]))
        held = conversations.run_conversations([alike(number) for number in numbers], engine)
        return [(response.text, response.usage.cached_tokens) for state in held for response in state.responses]

    assert cached(range(10)) == cached(range(4)) + cached(range(4, 8)) + cached(range(8, 10))


def test_every_prompt_is_kept_and_what_all_share_once() -> None:
    shared = SharedPrompts()
    engine = Engine(ScriptedBackend(lambda prompt: prompt.rpartition(" of ")[2].split()[0]))
    held = conversations.run_conversations(
        [conversation(number, set(), []) for number in (7, 8)], engine, shared=shared
    )
    assert [[message.content for message in messages] for messages in shared.shared()] == [["0 of "], ["1 of "]]
    rests = [[kept and shared.rest(kept)[0].content for kept in state.prompts] for state in held]
    assert rests == [["7 ", "7 7"], ["8 ", "8 8"]]
    assert [[response.text for response in state.last] for state in held] == [["7"], ["8"]]


def test_a_responder_is_not_asked_for_a_step_once_all_have_their_answers() -> None:
    class Counting(Engine):
        open = 0

        def submit_all(self, requests: Sequence[Request], *others: Any, **options: Any) -> list[int]:
            self.open += len(requests)
            return super().submit_all(requests, *others, **options)

        def step(self) -> dict[int, Response]:
            assert self.open
            responses = super().step()
            self.open -= len(responses)
            return responses

    engine = Counting(ScriptedBackend(lambda _: "yes"))
    held = conversations.run_conversations([conversation(number, set(), []) for number in range(3)], engine)
    assert all(state.answer for state in held)
