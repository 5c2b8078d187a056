"""The run as a whole: gates on several cells, gates that fit no cell, and reasons why the run must fail.

They appear as tests `puma::...`, synthetic reports of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_puma.core import Gate, Verdict
from pytest_puma.gates.grammar import applies
from pytest_puma.gates.judge import not_run
from pytest_puma.phrases import named
from pytest_puma.report import escape
from pytest_puma.session.controller.arrivals import Arrivals
from pytest_puma.session.controller.baseline_updates import BaselineUpdater
from pytest_puma.session.settings.config import is_part, is_selected

_PREFIX = "puma::"
_PROBLEMS_ID = f"{_PREFIX}run"
_MAX_NAMED = 3


def unused_gates(gates: Sequence[Gate], arrivals: Arrivals) -> tuple[Verdict, ...]:
    """Return NOT RUN verdicts of the general gates that fit no cell of this run."""
    outcomes, cells = arrivals.outcomes, arrivals.planned
    if not outcomes:
        return ()
    used = {verdict.gate for outcome in outcomes for verdict in outcome.judgement.verdicts}
    used |= {gate for outcome in outcomes for gate in outcome.judgement.cross_cell_gates}
    unused = [
        gate
        for gate in gates
        # A cell without verdicts ended in an error, which is reported as such.
        if gate not in used and (gate.scope is None or not any(applies(gate, cell.name) for cell in cells))
    ]
    return tuple(not_run(gate, f"gate {str(gate)!r} fits no cell of this run") for gate in unused)


def problems(
    config: pytest.Config, arrivals: Arrivals, unused: Sequence[Verdict], baselines: BaselineUpdater
) -> tuple[str, ...]:
    """Return the reasons why the run must fail although no test failed."""
    missing = [f"{test} was planned, but no outcome of it arrived" for test in arrivals.missing]
    # Gates for cells outside the selection are no mistakes; unknown names have already ended the collection.
    mistakes = () if _is_part(config, arrivals) else unused
    overruled = [
        f"{test} misses the gate {str(verdict.gate)!r}, but was not reported as failed; "
        "a plugin or a conftest.py calls or reports tests in its own way: leave it out for benchmarks"
        for test, verdict in arrivals.overruled
    ]
    return (*missing, *overruled, *(verdict.reason for verdict in mistakes), *baselines.problems(arrivals.collected))


def stopped(arrivals: Arrivals) -> str:
    """Return the sentence on a run that did not reach its end: which cells are missing."""
    missing = arrivals.missing
    if not missing:
        return "the run was stopped before it was judged as a whole"
    some = named(missing, _MAX_NAMED)
    return f"the run was stopped: {len(missing)} of {len(arrivals.planned)} cells did not run: {some}"


def _is_part(config: pytest.Config, arrivals: Arrivals) -> bool:
    """Whether some cells did not run: deselected by the user, or distributed over several runs by a plugin."""
    collected = arrivals.collected
    distributed = collected is not None and not collected.cells <= set(arrivals.cells)
    return distributed or is_selected(config) or is_part(config)


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
