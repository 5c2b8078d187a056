"""What pytest shows of a test that fails by us: a line for its summaries, sentences, and below them the details.

A traceback through this package would tell a user nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_puma.core import Outcome
from pytest_puma.report import escape
from pytest_puma.report.missed import in_short, sentence
from pytest_puma.report.terminal import misses


class Told(pytest.fail.Exception):  # type: ignore[name-defined, misc]  # a class, which mypy takes for a variable
    """Fails a test. `short` is for lines that say all in one; `missed`: by the gates of its cell."""

    def __init__(
        self, short: str, sentences: Sequence[str], details: Sequence[str] = (), *, missed: bool = False
    ) -> None:
        self.short = escape.terminal(short)
        self.sentences = [escape.terminal(line) for line in sentences]
        self.details = [escape.terminal(line) for line in details]
        self.missed = missed
        super().__init__(msg="\n".join([*self.sentences, *self.details]), pytrace=False)


def missed_gates(outcome: Outcome) -> Told:
    """The failure of a cell that misses gates: their sentences, then its worst misses."""
    short = "; ".join(map(in_short, outcome.failed))
    return Told(short, list(map(sentence, outcome.failed)), misses(outcome), missed=True)


def fault(error: Exception) -> Told:
    """The failure by what cannot be done, which the error says."""
    lines = str(error).split("\n")
    return Told(lines[0], lines)


def represent(item: pytest.Item, failure: Told, report: pytest.TestReport) -> None:
    """Show of it as much as `--tb` asks for, at the place of the test function.

    pytest made the representation, of classes that are not public; it is filled in anew.
    """
    shown: Any = report.longrepr
    path, line, _ = item.reportinfo()
    shown.reprcrash.message = failure.short
    shown.reprcrash.path, shown.reprcrash.lineno = str(path), (line or 0) + 1
    entry = shown.reprtraceback.reprentries[-1]
    if entry.style == "value":  # not so with --full-trace
        entry.lines = _lines(failure, item.config.option.tbstyle)


def _lines(failure: Told, style: str) -> list[str]:
    """With `line`, pytest itself writes the one line."""
    if style == "line":
        return []
    return failure.sentences if style == "short" else [*failure.sentences, *failure.details]


def status(report: pytest.TestReport, value: str) -> tuple[str, str, str] | None:
    """`PASSED (f1_macro=0.72)`; a failure says its reason, for which the line of the summary needs its room."""
    if hasattr(report, "wasxfail") or not report.passed:
        return None
    return "passed", ".", f"PASSED ({value})"
