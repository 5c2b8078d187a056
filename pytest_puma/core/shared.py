"""Prompts of a cell, with the beginning that they share kept once: a long run holds and writes the rest alone.

    shared    system "Be brief.", user "Ada is a person. Rex is a "
    rest      user "dog."                        of one sample
    joined    system "Be brief.", user "Ada is a person. Rex is a dog."

The first message of the rest continues the last shared one. Where nothing is shared, the rest is the whole prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from pytest_puma.core.conversation import Message, Prompt
from pytest_puma.core.prefix import common_prefix

Messages: TypeAlias = tuple[Message, ...]


class Place(NamedTuple):
    """A place in a prompt: behind so many characters of a message, counted from 0."""

    message: int
    characters: int


#: The place before everything.
NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A prompt beside the first one of its turn: where it parts from it, and how it goes on."""

    turn: int
    parts: Place
    rest: Messages


class SharedPrompts:
    """The prompts of a cell by their turn: the first, the second, and so on that differs from the one before."""

    def __init__(self) -> None:
        self._first: list[Messages] = []
        self._common: list[Place] = []

    def keep(self, turn: int, prompt: Prompt) -> Kept:
        """Take in a prompt; one of a turn comes after one of the turn before."""
        messages = _spoken(prompt)
        if turn == len(self._first):
            self._first.append(messages)
            self._common.append(_common(messages, messages))
        parts = _common(self._first[turn], messages)
        self._common[turn] = min(self._common[turn], parts)
        return Kept(turn=turn, parts=parts, rest=_behind(messages, parts))

    def shared(self) -> tuple[Messages, ...]:
        """What all prompts taken in begin with, by turn."""
        return tuple(_before(first, self._boundary(turn)) for turn, first in enumerate(self._first))

    def rest(self, kept: Kept) -> Messages:
        """A prompt behind what all of its turn begin with."""
        whole = joined(_before(self._first[kept.turn], kept.parts), kept.rest)
        return _behind(whole, self._boundary(kept.turn))

    def _boundary(self, turn: int) -> Place:
        """The end of what is shared, moved back to the last blank: each rest begins with a whole word."""
        first, (at, characters) = self._first[turn], self._common[turn]
        if (at, characters) == NOWHERE:
            return NOWHERE
        text = first[at].content
        if characters < len(text):
            characters = max(text.rfind(" ", 0, characters), text.rfind("\n", 0, characters)) + 1
        return _place(first, at, characters)


def joined(shared: Sequence[Message], rest: Sequence[Message]) -> Messages:
    """The whole prompt again."""
    if not shared or not rest:
        return (*shared, *rest)
    return (*shared[:-1], replace(shared[-1], content=shared[-1].content + rest[0].content), *rest[1:])


def whole_prompts(shared: Sequence[Messages], rests: Iterable[Messages | None]) -> tuple[Messages, ...]:
    """The prompts of a conversation from what is left of them, `None` being the prompt before, again."""
    beginnings = iter(shared)
    found: list[Messages] = []
    for rest in rests:
        found.append(found[-1] if rest is None else joined(next(beginnings), rest))
    return tuple(found)


def _spoken(prompt: Prompt) -> Messages:
    """The messages of a prompt; the beginning of the reply, where it has one, is the last."""
    prefill = (Message(role="assistant", content=prompt.prefill),) if prompt.prefill else ()
    return (*prompt.messages, *prefill)


def _common(one: Messages, other: Messages) -> Place:
    """Where two prompts part."""
    both = list(zip(one, other, strict=False))
    at = next((at for at, (mine, its) in enumerate(both) if mine != its), len(both))
    if at == len(both) or both[at][0].role != both[at][1].role:
        return _place(one, at, 0)
    return _place(one, at, common_prefix(one[at].content, other[at].content))


def _place(messages: Messages, at: int, characters: int) -> Place:
    """A place inside a message or at its end, never before it: what follows continues that message."""
    return Place(at - 1, len(messages[at - 1].content)) if at and not characters else Place(at, characters)


def _before(messages: Messages, place: Place) -> Messages:
    if place == NOWHERE:
        return ()
    last = messages[place.message]
    return (*messages[: place.message], replace(last, content=last.content[: place.characters]))


def _behind(messages: Messages, place: Place) -> Messages:
    if place == NOWHERE:
        return messages
    first = messages[place.message]
    return (replace(first, content=first.content[place.characters :]), *messages[place.message + 1 :])
