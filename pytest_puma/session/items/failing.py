"""The failure of a test by pytest-puma, as pytest shows it: a line for summaries, sentences, and details.

A traceback through this package would not help a user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_puma.core import NotRunError, Outcome, PumaError
from pytest_puma.report import escape
from pytest_puma.report.gates import in_short, sentence
from pytest_puma.report.terminal import misses


class PumaFailure(pytest.fail.Exception):  # type: ignore[name-defined, misc]  # a class, which mypy takes for a variable
    """Fails a test. `short` is the text for one-line summaries; `missed`: whether missed gates are the reason."""

    def __init__(
        self, short: str, sentences: Sequence[str], details: Sequence[str] = (), *, missed: bool = False
    ) -> None:
        self.short = escape.terminal(short)
        self.sentences = [escape.terminal(line) for line in sentences]
        self.details = [escape.terminal(line) for line in details]
        self.missed = missed
        super().__init__(msg="\n".join([*self.sentences, *self.details]), pytrace=False)


def missed_gates(outcome: Outcome) -> PumaFailure:
    """Return the failure of a cell that misses gates, with the sentences of the gates and the worst misses."""
    short = "; ".join(map(in_short, outcome.failed))
    return PumaFailure(short, list(map(sentence, outcome.failed)), misses(outcome), missed=True)


@contextmanager
def without_traceback() -> Iterator[None]:
    """Fail with the message of a `PumaError` and without our traceback."""
    try:
        yield
    except NotRunError:
        raise
    except PumaError as error:
        lines = str(error).split("\n")
        raise PumaFailure(lines[0], lines) from None


def represent(item: pytest.Item, failure: PumaFailure, report: pytest.TestReport) -> None:
    """Show the failure at the place of the test function, as detailed as `--tb` requests.

    pytest has made the representation, from classes that are not public; its fields are replaced here.
    """
    shown: Any = report.longrepr
    path, line, _ = item.reportinfo()
    shown.reprcrash.message = failure.short
    shown.reprcrash.path, shown.reprcrash.lineno = str(path), (line or 0) + 1
    entry = shown.reprtraceback.reprentries[-1]
    if entry.style == "value":  # other styles come with --full-trace
        entry.lines = _lines(failure, item.config.getoption("tbstyle", "auto"))


def _lines(failure: PumaFailure, style: str) -> list[str]:
    """Return the lines for a `--tb` style; for `line`, pytest writes the short text itself."""
    if style == "line":
        return []
    return failure.sentences if style == "short" else [*failure.sentences, *failure.details]


def status(report: pytest.TestReport, value: str) -> tuple[str, str, str] | None:
    """Return `PASSED (f1_macro=0.72)`, None for a failure, whose summary line needs the room for its reason."""
    if hasattr(report, "wasxfail") or not report.passed:
        return None
    return "passed", ".", f"PASSED ({value})"
