"""The last turn that was rendered: trials of a sample have the same prompt, and the template renders it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_puma.core import Message


class RenderedTurn:
    """The messages of the last turn, shared by the tasks of a cell.

    Only one turn is stored: the prompts of a long run would fill the memory, and trials of a sample follow each other.
    """

    def __init__(self) -> None:
        self._shown: Sequence[object] = ()
        self._messages: tuple[Message, ...] = ()

    def messages(self, shown: Sequence[object], render: Callable[[], tuple[Message, ...]]) -> tuple[Message, ...]:
        """Return the messages; `render` makes them unless each object that they show is that of the last turn."""
        if len(shown) != len(self._shown) or any(one is not last for one, last in zip(shown, self._shown, strict=True)):
            self._messages = render()
            self._shown = shown
        return self._messages
