"""Several requests at once: threads that ask, and a queue of what they got, in the order in which it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(slots=True, eq=False)
class Round(Generic[Q, A]):
    """The questions of a cell: how many are `open`, and what came. `stopped` ends those that wait, as a fault does."""

    open: int = 0
    stopped: Event = field(default_factory=Event)
    came: SimpleQueue[tuple[int, A | Exception]] = field(default_factory=SimpleQueue)

    def take(self) -> Iterator[tuple[int, A | Exception]]:
        """Wait for an answer or a fault; yield it, and those that came with it."""
        while self.open:
            self.open -= 1
            yield self.came.get()
            if self.came.empty():
                return


class Crowd(Generic[Q, A]):
    """`size` threads, each of which asks one question after the other. They end with the process."""

    def __init__(self, ask: Callable[[Q, Event], A], size: int) -> None:
        self._ask, self._size = ask, size
        self._questions: SimpleQueue[tuple[Round[Q, A], int, Q] | None] = SimpleQueue()
        self._threads = 0

    def put(self, current: Round[Q, A], number: int, question: Q) -> None:
        """Queue a question; its answer will come under the number."""
        current.open += 1
        self._questions.put((current, number, question))
        if self._threads < min(self._size, current.open):
            self._threads += 1
            # A daemon: a request may take minutes, and Ctrl-C does not wait for it.
            Thread(target=self._work, name="puma server", daemon=True).start()

    def close(self) -> None:
        """Let the threads end."""
        for _ in range(self._threads):
            self._questions.put(None)

    def _work(self) -> None:
        while (asked := self._questions.get()) is not None:
            current, number, question = asked
            try:
                current.came.put((number, self._ask(question, current.stopped)))
            except Exception as error:  # noqa: BLE001 - the thread that waits raises it
                current.came.put((number, error))
                current.stopped.set()
