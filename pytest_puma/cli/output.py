"""The lines that a command writes to the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable

from pytest_puma.report import escape


def show(*texts: str) -> None:
    """Write lines that may contain names from files."""
    for text in texts:
        sys.stdout.write(f"{escape.terminal_lines(text)}\n")


def show_section(title: str, lines: Iterable[str]) -> None:
    """Write lines under a title, as pytest does; nothing without lines."""
    lines = list(lines)
    if lines:
        show(f" {title} ".center(width(), "="), *lines)


def width() -> int:
    """Return the number of terminal columns: 80 without a terminal, unless COLUMNS is set."""
    return shutil.get_terminal_size().columns
