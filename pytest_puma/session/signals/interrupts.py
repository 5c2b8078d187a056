"""Signals that end a run: SIGTERM and SIGHUP end it like Ctrl-C.

Their default is to end the process at once, without tables and files. CI systems cancel a job with SIGTERM, and a
terminal that is closed sends SIGHUP.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from pytest_puma.session.signals.interrupt_watch import InterruptWatch

#: Windows has no SIGHUP.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Exit(KeyboardInterrupt):
    """The end of a run by a signal: like Ctrl-C, no error of the template or metric that happens to run."""


class EndSignals:
    """Handlers of both signals while benchmarks run; a handler of another plugin stays."""

    def __init__(self, watch: InterruptWatch) -> None:
        self._watch = watch
        self._handled: list[int] = []
        self._owner = os.getpid()

    def handle(self) -> None:
        """End the run in order at the first signal."""
        if not self._handled and threading.current_thread() is threading.main_thread():
            # `nohup` ignores SIGHUP: then the run goes on.
            self._handled = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]
            for number in self._handled:
                signal.signal(number, self._end)
            self._watch.start()

    def restore(self) -> None:
        """Leave both signals to the system again."""
        for number in self._handled:
            signal.signal(number, signal.SIG_DFL)
        self._handled = []
        self._watch.stop()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        # The next signal ends the process at once.
        self.restore()
        if os.getpid() != self._owner:
            # A process that a test forked ends as if there were no handler.
            signal.raise_signal(number)
        msg = f"{signal.Signals(number).name} received"
        raise Exit(msg)


@contextmanager
def at_the_end() -> Iterator[None]:
    """Exit with the status of an interrupt where pytest expects no Ctrl-C any more, and would show a traceback."""
    try:
        yield
    except KeyboardInterrupt as end:
        pytest.exit(str(end) or "KeyboardInterrupt", returncode=pytest.ExitCode.INTERRUPTED)
