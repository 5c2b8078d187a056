"""The progress of a long cell as a line, and where it is shown.

    puma: 2 of 12 cells done; triage_jira-egi@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left

It stands in one live line of a terminal, in a line of a log now and then, or in a file: workers of pytest-xdist have no
terminal, so that the process that started them reads these files. The line of a worker lacks the beginning, which only
that process knows. The response store cannot tell it how far a worker is: it has no row for an answer that is kept or
only read, none at all if it is off, and nobody knows how many rows a cell will have.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_puma.core import Responder, Speed
from pytest_puma.session.terminal import uncaptured

#: Seconds from which the remaining time is shown in minutes.
_MINUTES = 90
#: Key of the worker input: the file of the worker.
INPUT = "puma_progress"


def display_of(config: pytest.Config) -> Display | WorkerFile | None:
    """Return the display of this process; None without a terminal, and for `-q`."""
    file = getattr(config, "workerinput", {}).get(INPUT)
    if file is not None:
        return WorkerFile(Path(file))
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.option.verbose < 0:
        return None
    return Live(config, reporter) if reporter.isatty else Display(config, reporter)


class Display:
    """Adds a plain line to a log. `pace`: seconds between two lines; `patience`: seconds before the first one."""

    pace = patience = 30.0

    def __init__(self, config: pytest.Config, reporter: pytest.TerminalReporter) -> None:
        self._config, self._reporter = config, reporter

    def show(self, text: str) -> None:
        """Show a line."""
        self._write(text)

    def clear(self) -> None:
        """Leave the terminal to the next one who writes."""

    def _write(self, text: str, *, raw: bool = False) -> None:
        # A terminal that is gone ends no cell. pytest writes next, and ends the run.
        with suppress(OSError), uncaptured(self._config):
            if raw:
                self._reporter.write_raw(text)
            else:
                self._begin_line()
                self._reporter.write_line(text)
            # Python collects what goes to a pipe, as in CI, in blocks.
            self._reporter.flush()

    def _begin_line(self) -> None:
        """Go to a new line if something is on this one: a path, or dots."""
        self._reporter.ensure_newline()
        if self._config.get_terminal_writer().width_of_current_line:
            self._reporter.line("")


class Live(Display):
    """Rewrites one line. It is written past pytest's own account of the line, so that it leaves nothing behind."""

    pace, patience = 0.5, 2.0

    def __init__(self, config: pytest.Config, reporter: pytest.TerminalReporter) -> None:
        super().__init__(config, reporter)
        self._open = False

    def show(self, text: str) -> None:
        """Show a line in place of the last one."""
        if not self._open:
            with suppress(OSError):
                self._begin_line()
        self._open = True
        self._write(f"\r{text[: self._width]:<{self._width}}", raw=True)

    def clear(self) -> None:
        """Erase the line."""
        if self._open:
            self._write(f"\r{' ' * self._width}\r", raw=True)
        self._open = False

    @property
    def _width(self) -> int:
        """Characters of a line that does not wrap."""
        return self._config.get_terminal_writer().fullwidth - 1


class WorkerFile:
    """Writes the line of a worker to its file, which lies on this machine or does not exist."""

    pace, patience = 0.5, 0.0

    def __init__(self, path: Path) -> None:
        self._path = path

    def show(self, text: str) -> None:
        """Replace the line."""
        with suppress(OSError):
            self._path.write_text(text, encoding="utf-8")

    def clear(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def progress_of(config: pytest.Config, cell: str, responder: Responder, *, finished: int, cells: int) -> Meter | None:
    """Return the progress callback of the conversations of a cell with a responder; None if nobody sees it."""
    display = display_of(config)
    beginning = done(finished, cells) if isinstance(display, Display) else ""
    return None if display is None else Meter(cell, responder, display, beginning)


def done(finished: int, cells: int) -> str:
    """Return the beginning of a line."""
    return f"puma: {finished} of {cells} cells done; "


def line(
    cell: str, answered: int, samples: int, *, kept: int = 0, speed: float = 0.0, left: float | None = None
) -> str:
    """Return `triage_jira-zero_shot@q 137 of 200 samples, 64 answers kept, 812 tokens/s, about 3 min left`.

    `kept`: responses from the response store; `speed`: computed tokens per second; `left`: seconds, None if unknown.
    """
    parts = [f"{cell} {answered:,} of {samples:,} samples"]
    parts += [f"{kept:,} answers kept"] if kept else []
    parts += [f"{speed:,.0f} tokens/s"] if speed else []
    if left is not None:
        parts.append(f"about {left / 60:.0f} min left" if left >= _MINUTES else f"about {left:.0f} s left")
    return ", ".join(parts)


class Meter:
    """Counts the samples of a cell, and shows them now and then."""

    def __init__(self, cell: str, responder: Responder, display: Display | WorkerFile, beginning: str) -> None:
        self._cell, self._responder, self._display, self._beginning = cell, responder, display, beginning
        self._started = time.monotonic()
        self._due = self._started + display.patience
        self._speed = Speed()
        self._answered = self._read = 0

    def __call__(self, answered: int, samples: int) -> None:
        """Receive the numbers of answered and of all samples."""
        now, speed = time.monotonic(), self._responder.speed
        if speed == self._speed:
            # Nothing was computed, so that these answers tell nothing about the rate of the others.
            self._read += answered - self._answered
        self._speed, self._answered = speed, answered
        if answered == samples:
            self._display.clear()
        elif now >= self._due:
            self._due = now + self._display.pace
            self._display.show(self._beginning + self._line(samples, now - self._started))

    def _line(self, samples: int, seconds: float) -> str:
        computed = self._answered - self._read
        busy = self._speed.prefill_seconds + self._speed.decode_seconds
        tokens = self._speed.prefill_tokens + self._speed.decode_tokens
        return line(
            self._cell,
            self._answered,
            samples,
            kept=self._responder.kept,
            speed=tokens / busy if busy else 0.0,
            # At the rate of the samples that were computed.
            left=seconds * (samples - self._answered) / computed if computed else None,
        )
