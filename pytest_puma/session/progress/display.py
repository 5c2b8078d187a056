"""Where progress is shown: in one live line of a terminal, in a line of a log now and then, or in the file of a worker.

Workers of pytest-xdist have no terminal: the process that started them reads these files.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from pytest_puma.session.terminal import uncaptured

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
