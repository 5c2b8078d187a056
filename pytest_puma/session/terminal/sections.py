"""Sections of pytest-puma at the end of pytest's output."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from pytest_puma.session.terminal.capture import has_terminal

_COLUMNS = 80


def width(config: pytest.Config) -> int:
    """Return the number of terminal columns: 80 without a terminal, unless COLUMNS is set."""
    return config.get_terminal_writer().fullwidth if has_terminal(config) else _COLUMNS


def show(terminalreporter: Any, title: str, lines: Sequence[str]) -> None:
    """Show lines under a title; without lines, nothing."""
    from pytest_puma.report import escape

    # A terminal that is gone, or a full disk behind it, is pytest's to report.
    with suppress(OSError):
        if lines:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(escape.terminal(line))
