"""The progress of a long cell: one live line on a terminal, elsewhere a plain line every 30 s."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from pytest_puma.run.cell import Cell
from pytest_puma.run.conversations import Progress
from pytest_puma.session.capture import uncaptured

#: Seconds between two lines: on a terminal, where the line is rewritten, and in a log.
LIVE, PLAIN = 0.5, 30.0
#: Seconds before the first line.
PATIENCE = 2.0


def progress_of(config: pytest.Config, cell: Cell) -> Progress | None:
    """Return the progress callback for `evaluate`; None without a terminal reporter (in an xdist worker)."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.option.verbose < 0:
        return None
    line = _Live(reporter) if reporter.isatty else _Plain(reporter)
    started = time.monotonic()
    due = started + (PATIENCE if reporter.isatty else PLAIN)

    def update(answered: int, samples: int) -> None:
        nonlocal due
        now = time.monotonic()
        done = answered == samples
        if not done and now < due:
            return
        due = now + (LIVE if reporter.isatty else PLAIN)
        # A terminal that is gone ends no cell. pytest writes next, and ends the run.
        with suppress(OSError), uncaptured(config):
            line.show("" if done else _text(cell, answered, samples, now - started))
            # Python collects what goes to a pipe, as in CI, in blocks.
            reporter.flush()

    return update


class _Live:
    """Rewrites one line, and erases it at the end."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter
        self._open = False

    def show(self, text: str) -> None:
        if text and not self._open:
            self._reporter.ensure_newline()
            self._open = True
        if self._open:
            self._reporter.rewrite(text, erase=True)


class _Plain:
    """Adds a line."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    def show(self, text: str) -> None:
        if text:
            self._reporter.ensure_newline()
            self._reporter.write_line(text)


def _text(cell: Cell, answered: int, samples: int, seconds: float) -> str:
    return f"puma: {cell.id}: {answered} of {samples} samples in {seconds:.0f} s"
