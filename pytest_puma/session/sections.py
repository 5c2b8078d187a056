"""Sections of our own at the end of pytest's output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def width(config: pytest.Config) -> int:
    """The columns of the terminal: 80 where there is none, unless COLUMNS says otherwise."""
    return config.get_terminal_writer().fullwidth


def show(terminalreporter: Any, title: str, lines: Sequence[str]) -> None:
    """Under a title; nothing where there are no lines."""
    from pytest_puma.report import escape

    if lines:
        terminalreporter.section(title)
    for line in lines:
        terminalreporter.write_line(escape.terminal(line))
