"""Signals: those that end a run, such as Ctrl-C, can wait; a timer limits the code of users."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType

#: Ctrl-C, the end of a job or of a terminal, and the alarm of time limits. Windows has only some of them.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name))
#: Seconds of computing for one reply.
READING = 30.0
#: Seconds of computing for one score, or one step of a strategy: the first one may load a model.
CALL = 300.0
#: Seconds of computing of all threads between two looks at the clock of this thread.
_INTERVAL = 0.2


@contextmanager
def deferred(*, limit: int | None = 1) -> Iterator[Sequence[int]]:
    """Let signals wait for the end of the block; return those that wait.

    `limit`: the number of signals that wait, None for all; the next one acts at once, as it would have without the
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
        if limit is not None and len(waiting) >= limit:
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


def limited(seconds: float) -> AbstractContextManager[None]:
    """Raise a `TimeoutError` in the code of the block after some seconds of computing of this thread.

    It limits code of users, such as a parser whose regular expression never ends on some replies. A process of its own,
    as `BoundedFunction` has, is no choice here: the code may use anything of this process.

    Of nested limits, the innermost counts, and the outermost has the timer: around many short calls, an infinite one
    saves most of the time. There is no limit in a thread that is not the main one, nor on systems without timers
    (Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _Limit(seconds) if _limits else _timed(_Limit(seconds))


@dataclass(slots=True, eq=False)
class _Limit:
    """A limit in seconds of computing, and its end on the clock of this thread, which the first look at it sets."""

    seconds: float
    end: float | None = None

    def __enter__(self) -> None:
        """Put the limit in force."""
        _limits.append(self)

    def __exit__(self, *error: object) -> None:
        """End the limit, and those inside it."""
        del _limits[_limits.index(self) :]


#: The limits in force, the innermost last.
_limits: list[_Limit] = []


@contextmanager
def _timed(limit: _Limit) -> Iterator[None]:
    handler = signal.signal(signal.SIGVTALRM, _look)
    timer = signal.setitimer(signal.ITIMER_VIRTUAL, _INTERVAL, _INTERVAL)
    try:
        with limit:
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, *timer)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL if handler is None else handler)


def _look(_number: int, _frame: FrameType | None) -> None:
    now = time.thread_time()  # too slow to ask at the beginning of each block
    for limit in _limits:
        limit.end = now + limit.seconds if limit.end is None else limit.end
        if limit is _limits[-1] and now >= limit.end:
            msg = f"over {limit.seconds:g} seconds of computing, as a regular expression may need on some texts"
            raise TimeoutError(msg)
