"""A time limit for code of users, such as a parser whose regular expression never ends on some replies.

    with limited(30):
        answer = scenario.read(text, sample)

A process of its own, as `BoundedFunction` has, is no choice here: the code may use anything of this process.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Seconds of computing for one reply.
READING = 30.0
#: Seconds of computing for one score, or one step of a strategy: the first one may load a model.
CALL = 300.0
#: Seconds between looks at the clock of this thread beyond the limit: the timer counts all threads.
_AGAIN = 0.5


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a `TimeoutError` in the code of the block after some seconds of computing of this thread.

    There is no limit in a thread that is not the main one, nor on systems without timers (Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    end = time.thread_time() + seconds

    def stop(_: int, __: FrameType | None) -> None:
        if time.thread_time() >= end:
            msg = f"over {seconds:g} seconds of computing, as a regular expression may need on some texts"
            raise TimeoutError(msg)

    handler = signal.signal(signal.SIGVTALRM, stop)
    timer = signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, *timer)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL if handler is None else handler)
