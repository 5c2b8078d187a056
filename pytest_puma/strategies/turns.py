"""The turns of a prompt by name, and the last one that was rendered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_puma.core import Message

#: The turns that every wording has.
SYSTEM, USER = "system", "user"


class RenderedTurn:
    """The messages of the last turn, shared by the tasks of a cell; `asked`: the turns that conversations asked for.

    Only one turn is stored: the prompts of a long run would fill the memory, and trials of a sample follow each other.
    """

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self._shown: Sequence[object] = ()
        self._messages: tuple[Message, ...] = ()

    def messages(
        self, turn: str, shown: Sequence[object], render: Callable[[], tuple[Message, ...]]
    ) -> tuple[Message, ...]:
        """Return the messages; `render` makes them unless the turn and each object that it shows are the last ones."""
        self.asked.add(turn)
        shown = (turn, *shown)
        if len(shown) != len(self._shown) or any(one is not last for one, last in zip(shown, self._shown, strict=True)):
            self._messages, self._shown = render(), shown
        return self._messages
