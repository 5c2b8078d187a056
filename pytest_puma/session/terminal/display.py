"""Display of progress: one live line on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pytest_puma.session.terminal.capture import uncaptured

#: Seconds between two lines: on a terminal, where the line is rewritten, and in a log.
LIVE, PLAIN = 0.5, 30.0
#: Seconds before the first line on a terminal.
PATIENCE = 2.0


def display_of(config: pytest.Config) -> Display | None:
    """Return the display; None without a terminal reporter (in an xdist worker), and for `-q`."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.option.verbose < 0:
        return None
    return Live(config, reporter) if reporter.isatty else Display(config, reporter)


class Display:
    """Adds a plain line to a log."""

    def __init__(self, config: pytest.Config, reporter: pytest.TerminalReporter) -> None:
        self._config, self._reporter = config, reporter

    @property
    def pace(self) -> float:
        """Seconds between two lines."""
        return PLAIN

    @property
    def patience(self) -> float:
        """Seconds before the first line."""
        return PLAIN

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

    def __init__(self, config: pytest.Config, reporter: pytest.TerminalReporter) -> None:
        super().__init__(config, reporter)
        self._open = False

    @property
    def pace(self) -> float:
        """Seconds between two lines."""
        return LIVE

    @property
    def patience(self) -> float:
        """Seconds before the first line."""
        return PATIENCE

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
