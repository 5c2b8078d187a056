"""Signals that end a run, such as Ctrl-C, wait while something must not be interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

#: Ctrl-C, the end of a job or of a terminal, and the alarm of time limits. Windows has only some of them.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name))


@contextmanager
def held(*, patience: int | None = 1) -> Iterator[Sequence[int]]:
    """Let signals wait for the end of the block; return those that wait.

    `patience`: the number of signals that wait, None for all; the next one acts at once, as it would have without the
    block. Signals whose handling is left to the system do not wait.
    """
    waiting: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        # Python handles signals in the main thread.
        yield waiting
        return
    usual = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    def wait(number: int, _frame: FrameType | None) -> None:
        if patience is not None and len(waiting) >= patience:
            restore()
            waiting.clear()
            signal.raise_signal(number)
        waiting.append(number)

    try:
        for number in usual:
            signal.signal(number, wait)
        yield waiting
    finally:
        restore()
        if waiting:
            signal.raise_signal(waiting[0])
