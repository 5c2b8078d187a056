"""Shared prefixes of a cell's prompts: each is stored once, and a long run stores only the rest of each prompt.

    shared    system "Be brief.", user "Ada is a person. Rex is a "
    rest      user "dog."                        of one sample
    joined    system "Be brief.", user "Ada is a person. Rex is a dog."

The first message of the rest continues the last shared one. Where nothing is shared, the rest is the whole prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from pytest_puma.core.conversation import Message, Prompt

Messages: TypeAlias = tuple[Message, ...]


class Place(NamedTuple):
    """A place in a prompt: after a number of characters of a message, counted from 0."""

    message: int
    characters: int


#: The start of a prompt.
START = Place(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRest:
    """A prompt relative to the first one of its turn: the place where they part, and the rest."""

    turn: int
    parts: Place
    rest: Messages


class SharedPrompts:
    """The prompts of a cell by turn: the first of a conversation, the second that differs from it, and so on."""

    def __init__(self) -> None:
        self._first: list[Messages] = []
        self._common: list[Place] = []
        self._between = lru_cache(self._cut)  # most prompts part at the same few places

    def keep(self, turn: int, prompt: Prompt) -> PromptRest:
        """Add a prompt of a turn; the first prompt of a turn follows one of the turn before."""
        messages = messages_with_prefill(prompt)
        if turn == len(self._first):
            self._first.append(messages)
            self._common.append(_common(messages, messages))
        parts = _common(self._first[turn], messages)
        self._common[turn] = min(self._common[turn], parts)
        return PromptRest(turn=turn, parts=parts, rest=_after(messages, parts))

    def shared(self) -> tuple[Messages, ...]:
        """Return the shared prefix of all added prompts, by turn."""
        boundaries = map(self._boundary, range(len(self._first)), self._common)
        return tuple(map(_before, self._first, boundaries))

    def rest(self, kept: PromptRest) -> Messages:
        """Return a prompt without the shared prefix of its turn."""
        return joined(self._between(kept.turn, self._common[kept.turn], kept.parts), kept.rest)

    def _cut(self, turn: int, common: Place, end: Place) -> Messages:
        """The part between the shared prefix of the prompts so far, whose end is before `common`, and a place."""
        return _after(_before(self._first[turn], end), self._boundary(turn, common))

    def _boundary(self, turn: int, common: Place) -> Place:
        """The end of the shared prefix, moved back to the last space, so that each rest begins with a whole word."""
        first, (at, characters) = self._first[turn], common
        if (at, characters) == START:
            return START
        text = first[at].content
        if characters < len(text):
            characters = max(text.rfind(" ", 0, characters), text.rfind("\n", 0, characters)) + 1
        return _place(first, at, characters)


def common_prefix(left: Sequence[str] | Sequence[int], right: Sequence[str] | Sequence[int]) -> int:
    """Return the number of leading characters or tokens that two sequences share."""
    low, high = 0, min(len(left), len(right))
    # Slices compare at C speed; a loop does not.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(texts: Sequence[str]) -> str:
    """Return the longest common end that begins with a whole word; none of a single text, which is all its own."""
    if len(texts) < 2:  # noqa: PLR2004 - nothing is common to one
        return ""
    backwards = [text[::-1] for text in texts]
    first, last = min(backwards), max(backwards)
    end = first[: common_prefix(first, last)][::-1]
    if end in texts:
        return end
    return end[next((index for index, letter in enumerate(end) if not letter.isalnum()), len(end)) :]


def joined(shared: Sequence[Message], rest: Sequence[Message]) -> Messages:
    """Return the whole prompt."""
    if not shared or not rest:
        return (*shared, *rest)
    return (*shared[:-1], _with(shared[-1], shared[-1].content + rest[0].content), *rest[1:])


def whole_prompts(shared: Sequence[Messages], rests: Iterable[Messages | None]) -> tuple[Messages, ...]:
    """Return the prompts of a conversation from their rests; a rest of `None` repeats the prompt before.

    None if the prompts were not kept, so that there is none before the first.
    """
    prefixes = iter(shared)
    prompts: list[Messages] = []
    for rest in rests:
        if rest is None and not prompts:
            return ()
        prompts.append(prompts[-1] if rest is None else joined(next(prefixes), rest))
    return tuple(prompts)


def messages_with_prefill(prompt: Prompt) -> Messages:
    """Return the messages of a prompt, with its prefill as the last message."""
    prefill = (Message(role="assistant", content=prompt.prefill),) if prompt.prefill else ()
    return (*prompt.messages, *prefill)


def _common(left: Messages, right: Messages) -> Place:
    """The place where two prompts part."""
    for at, (mine, its) in enumerate(zip(left, right, strict=False)):
        if mine != its:
            return _place(left, at, common_prefix(mine.content, its.content) if mine.role == its.role else 0)
    return _place(left, min(len(left), len(right)), 0)


def _place(messages: Messages, at: int, characters: int) -> Place:
    """A place inside a message or at its end, never at its start: the rest continues that message."""
    return Place(at - 1, len(messages[at - 1].content)) if at and not characters else Place(at, characters)


def _before(messages: Messages, place: Place) -> Messages:
    if place == START:
        return ()
    last = messages[place.message]
    return (*messages[: place.message], _with(last, last.content[: place.characters]))


def _after(messages: Messages, place: Place) -> Messages:
    if place == START:
        return messages
    first = messages[place.message]
    return (_with(first, first.content[place.characters :]), *messages[place.message + 1 :])


def _with(message: Message, content: str) -> Message:
    """The message with another content, in a third of the time that `dataclasses.replace` takes."""
    return Message(role=message.role, content=content)
