"""The reasons that pytest's short test summary has no room for: the ids of cells are long, and a terminal is narrow.

FAILED benchmarks/test_triage_jira.py::test_triage_jira[triage_jira-zero_shot@puma-tiny]
reasons:
  triage_jira-zero_shot@puma-tiny: f1_macro 0.11 < 0.3
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any

import pytest

#: Variables of CI systems, where pytest shortens no line.
_CI = ("CI", "BUILD_NUMBER")
#: The lists of failures, and the characters of `-r` that request them.
_KINDS = {"failed": "f", "error": "E"}
#: Characters of a reason: a body may fail with a text of any length.
_LONGEST = 400


class ShortSummary:
    """Adds the missing reasons below the short test summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    # Around pytest's own wrapper, which writes the short test summary.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        """Write the reasons after pytest has written its summary."""
        result = yield
        lines = [] if self._is_whole(terminalreporter) else list(self._missing(terminalreporter))
        # A terminal that is gone, or a full disk behind it, is pytest's to report.
        with suppress(OSError):
            for line in ["reasons:", *lines] if lines else []:
                terminalreporter.write_line(line)
        return result

    def _is_whole(self, terminalreporter: Any) -> bool:
        """Whether pytest writes no summary, or a line as long as its reason."""
        option = self._config.option
        longest = option.verbose > 1 or any(os.environ.get(name) for name in _CI)
        return terminalreporter.no_summary or (longest and not option.force_short_summary)

    def _missing(self, terminalreporter: Any) -> Iterator[str]:
        """Yield the reason of each failed item whose line is longer than the terminal is wide."""
        for kind in (kind for kind, character in _KINDS.items() if character in terminalreporter.reportchars):
            for report in terminalreporter.stats.get(kind, []):
                if reason := _reason(report):
                    yield from self._without_room(kind, report, reason)

    def _without_room(self, kind: str, report: Any, reason: str) -> Iterator[str]:
        """Yield a reason that its line has no room for."""
        # Here, as runs without benchmarks must not pay for these imports.
        from pytest_puma.errors import one_line
        from pytest_puma.report import escape
        from pytest_puma.report.table import text_width

        writer = self._config.get_terminal_writer()
        name = getattr(report, "puma_cell", None) or report.nodeid
        # pytest takes a line with colours for no wider than its reason.
        before = "" if writer.hasmarkup else f"{kind} {report.nodeid}"
        if text_width(f"{before} - {reason}") > writer.fullwidth:
            yield f"  {escape.terminal(name)}: {escape.terminal(one_line(reason, _LONGEST))}"


def _reason(report: Any) -> str:
    """Return the first line of the reason why an item of ours failed, else nothing."""
    if not getattr(report, "puma_cell", None) and not report.nodeid.startswith("puma::"):
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longrepr if crash is None else crash.message
    return text.partition("\n")[0] if isinstance(text, str) else ""
