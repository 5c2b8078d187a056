r"""The example outputs in README.md, kept true: each marked command is run, and its output written or compared.

    <!-- output of: pytest benchmarks | from: ^=+ puma =+$ | to: ^predictions: | exit: 1 -->
    ```console
    $ .venv/bin/pytest benchmarks
    ...
    ```

The block behind a marker is `console` or `text`. Leading `$` lines are kept, and the last of them must show the
command; what follows is the output. `from` and `to` keep the stretch between two lines that match (both included),
`exit` is the expected status (0 without it). Options are parted by a `|` between blanks.

`python -m tools.readme` writes the outputs, `python -m tools.readme --check` compares. Two honest runs may differ in
seconds, run ids, widths and, inside a table, by a little in numbers: a near-tie may fall either way.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher, unified_diff
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAST = 30  # lines of output that an error shows

_OPENING = "<!-- output of:"
_FENCE = re.compile(r"(`{3,})(?:console|text)")
_OPTIONS: dict[str, Callable[[str], object]] = {"from": re.compile, "to": re.compile, "exit": int}
_PROGRAMS = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
_SETTINGS = {"COLUMNS": "110", "PY_COLORS": "0", "NO_COLOR": "1"}
_UNSET = {"CI", "BUILD_NUMBER", "PYTEST_ADDOPTS"}  # pytest's output hangs on them

_SESSION = re.compile(r"^=+ test session starts =+$")
_COLLECTED = re.compile(r"^collected ")

_MASKS = (
    (re.compile(r"\b\d+\.\d+s\b(?: \(\d+:\d\d:\d\d\))?"), "<seconds>"),  # pytest adds minutes to a long run
    (re.compile(r"\b\d{8}T\d{6}-\d+\b"), "<run>"),
    (re.compile(r"(?<!\S)([-=_])\1+(?!\S)"), r"\1"),
    (re.compile(r"\[ +(?=\d+%\])"), "["),
)
_TABLE = re.compile(r"-{2,}(?:  -{2,})+")  # the line under the headings
_NUMBER = re.compile(r"(\[?)(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?<!,)([%*,\]]*)")
_ABSOLUTE, _RELATIVE, _TOKENS = Decimal("0.05"), Decimal("0.10"), Decimal("0.02")


class ReadmeError(Exception):
    """A marker that cannot be read, or a command that did not do what its marker says."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A command, the status that it ends with, and the lines that bound what is shown of its output."""

    command: str
    status: int = 0
    first: re.Pattern[str] | None = None
    last: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A marker and where its output stands: `lines[start:end]` of the page."""

    marker: Marker
    start: int
    end: int
    fence: str


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as it is compared; a number in a table is `#` in its shape, and counts by its value."""

    shape: str
    number: Decimal | None = None
    column: str = ""


# -- markers and blocks ----------------------------------------------------------------------------


def parse_marker(line: str) -> Marker:
    """Read a marker comment; a `ReadmeError` quotes what makes no sense in it."""
    if not line.endswith("-->"):
        raise ReadmeError(f"found {line!r}; expected a marker on one line, ended by '-->'")
    command, *options = (part.strip() for part in re.split(r"\s\|\s", line[len(_OPENING) : -len("-->")]))
    if not _split(command):
        raise ReadmeError(f"found no command in {line!r}; expected one, as in '{_OPENING} pytest benchmarks -->'")
    read = dict(map(_option, options))
    return Marker(command, status=read.get("exit", 0), first=read.get("from"), last=read.get("to"))
