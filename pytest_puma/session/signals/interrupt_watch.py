"""Ctrl-C during a long call of llama.cpp: Python handles it when the call returns, after seconds on a large model.

A thread receives it at once. It prints a line for the first Ctrl-C, and ends the process at the second one: the answers
so far are in the response store.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

import pytest

from pytest_puma.session.terminal.capture import has_terminal, uncaptured

#: Seconds that Python has to handle a signal by itself.
_PATIENCE = 1.0
#: Exit status of a process that Ctrl-C ended, as shells give it.
_ENDED = 128 + signal.SIGINT


class InterruptWatch:
    """Watches for Ctrl-C from `start` to `stop`, unless another plugin handles it."""

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
        other = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        if other != -1:
            signal.set_wakeup_fd(other)
            os.close(read)
            os.close(write)
            return
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
