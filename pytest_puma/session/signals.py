"""Signals that end a run: SIGTERM and SIGHUP end it like Ctrl-C, and a second Ctrl-C ends the process.

The default of the first two is to end the process at once, without tables and files. CI systems cancel a job with
SIGTERM, and a terminal that is closed sends SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import pytest

from pytest_puma.session.terminal import has_terminal, uncaptured

#: Windows has no SIGHUP.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
#: Seconds that Python has to handle a signal by itself.
_PATIENCE = 1.0
#: Exit status of a process that Ctrl-C ended, as shells give it.
_ENDED = 128 + signal.SIGINT


class Exit(KeyboardInterrupt):
    """The end of a run by a signal: like Ctrl-C, no error of the template or metric that happens to run."""


class EndSignals:
    """Handlers of the signals while benchmarks run; a handler of another plugin stays."""

    def __init__(self, config: pytest.Config) -> None:
        self._watch = InterruptWatch(config)
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


class InterruptWatch:
    """Watches for Ctrl-C from `start` to `stop`, unless another plugin handles it.

    Python handles it when the running call of llama.cpp returns, after seconds on a large model. A thread receives it
    at once: it prints a line for the first Ctrl-C, and ends the process at the second one. The answers so far are in
    the response store.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._handled = threading.Event()
        self._pipe: tuple[int, int] | None = None

    def start(self) -> None:
        """Begin to watch; called in the main thread."""
        if sys.platform == "win32" or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        read, write = os.pipe()
        os.set_blocking(write, False)
        # The system writes the number of each signal to it, whatever Python does.
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self._pipe = read, write
        signal.signal(signal.SIGINT, self._handle)
        os.register_at_fork(after_in_child=self._leave)
        threading.Thread(target=self._watch, args=(read,), daemon=True).start()

    def stop(self) -> None:
        """End the watch; the thread ends with the pipe."""
        if self._pipe is not None:
            self._leave()
            _, write = self._pipe
            os.close(write)
            self._pipe = None

    def _leave(self) -> None:
        """Leave Ctrl-C to Python: at the end, and in a process that a test forks."""
        if self._pipe is not None:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._handled.set()
        signal.default_int_handler(number, frame)

    def _watch(self, read: int) -> None:
        presses = 0
        while number := os.read(read, 1):
            if number[0] != signal.SIGINT or self._handled.wait(_PATIENCE):
                continue
            presses += 1
            if presses > 1:
                os._exit(_ENDED)
            self._answer()
        os.close(read)

    def _answer(self) -> None:
        if not has_terminal(self._config):
            return
        terminal = self._config.get_terminal_writer()
        # The terminal may be gone.
        with suppress(OSError, ValueError), uncaptured(self._config):
            terminal.line("\npuma: Ctrl-C: the running step ends first; Ctrl-C again ends the process at once")
            terminal.flush()


@contextmanager
def at_the_end() -> Iterator[None]:
    """Exit with the status of an interrupt where pytest expects no Ctrl-C any more, and would show a traceback."""
    try:
        yield
    except KeyboardInterrupt as end:
        pytest.exit(str(end) or "KeyboardInterrupt", returncode=pytest.ExitCode.INTERRUPTED)
