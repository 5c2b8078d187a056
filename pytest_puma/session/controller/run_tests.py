"""Tests of the run as a whole, `puma::...`: synthetic reports of run-level gates and of the problems of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_puma.core import Verdict

_PREFIX = "puma::"
_PROBLEMS_ID = f"{_PREFIX}run"


def report_gate(config: pytest.Config, verdict: Verdict) -> None:
    """Report a gate on several cells as a test."""
    cells = verdict.reason.partition(":")[0]
    _report(config, f"{_PREFIX}{verdict.gate} ({cells})", verdict.reason, failed=verdict.fails)


def report_problems(config: pytest.Config, problems: Sequence[str]) -> None:
    """Report the problems of the run as a failed test; as a passed one if --lf remembers a failure to forget."""
    cache = getattr(config, "cache", None)
    failed_before = cache is not None and _PROBLEMS_ID in cache.get("cache/lastfailed", {})
    if problems or failed_before:
        _report(config, _PROBLEMS_ID, "\n".join(f"puma: {problem}" for problem in problems), failed=bool(problems))


def _report(config: pytest.Config, nodeid: str, text: str, *, failed: bool) -> None:
    """Report a synthetic test: in JUnit XML, in the exit status and, if it fails, in the summary.

    The terminal reporter gets the failure but not the report, as its progress counts collected tests.
    """
    from pytest_puma.report import escape

    report = pytest.TestReport(
        nodeid=nodeid,
        location=("puma", None, "run"),
        keywords={},
        outcome="failed" if failed else "passed",
        longrepr=escape.terminal_lines(text) if failed else None,
        when="call",
    )
    plugins = config.pluginmanager
    terminal: Any = plugins.getplugin("terminalreporter")
    plugins.subset_hook_caller("pytest_runtest_logreport", [terminal])(report=report)
    if failed and terminal is not None:
        terminal.stats.setdefault("failed", []).append(report)
