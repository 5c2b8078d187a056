"""The console of a command: its declaration, and the lines that it writes to the terminal."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from pytest_puma.report import escape

#: What a command does; it returns its exit status, None for 0.
Run: TypeAlias = Callable[[argparse.Namespace], int | None]


def add_command(commands: Any, name: str, run: Run, text: str, *, description: str = "") -> argparse.ArgumentParser:
    """Declare a command; `text`: its line in the list of commands. Return its parser."""
    description = description or f"{text[0].upper()}{text[1:]}."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=description)
    parser.set_defaults(run=run)
    return parser


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
