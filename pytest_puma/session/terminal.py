"""The terminal of pytest: whether there is one, lines while it captures what tests write, and sections at the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import pytest

_COLUMNS = 80


def has_terminal(config: pytest.Config) -> bool:
    """Return whether pytest has its plugin `terminal`: without it there is no terminal writer."""
    return config.pluginmanager.hasplugin("terminalreporter")


def uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    """Let the terminal show what the block writes."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    return nullcontext() if capture is None else capture.global_and_fixture_disabled()


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
