"""Planned cells and their outcomes, as the reports of the tests arrive.

The key of a test is its index in the collection, which all workers share. Node ids are no keys: several tests may have
the same one, and the position of the cell id in them is uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from pytest_puma.codec.outcomes import from_lines
from pytest_puma.core import Fault, Outcome, Verdict
from pytest_puma.session.items.collected import Collected
from pytest_puma.session.workers.nodeid import Named

_PHASES = ("setup", "call", "teardown")


@dataclass(slots=True)
class _Test:
    """A planned cell and what its reports had. `certain`: a process named the cell, so that it is no guess.

    `failed`: the last run of the test failed or xfailed. `attempts`: its runs. `faults`: those of its last run.
    """

    named: Named
    certain: bool
    reported: bool = False
    passed: bool = False
    failed: bool = False
    outcome: Outcome | None = None
    attempts: int = 0
    unchanged: str = ""
    faults: dict[str, Fault] = field(default_factory=dict)

    @property
    def missing(self) -> bool:
        """Whether the test never reported, or passed without an outcome."""
        return not self.reported or (self.passed and self.outcome is None)


class Arrivals:
    """Planned cells, outcomes and faults of a run. `collected` is None until a process reports it."""

    def __init__(self) -> None:
        self.collected: Collected | None = None
        self._tests: dict[int, _Test] = {}
        self._is_planned = False

    def plan(self, cells: Mapping[int, Named], *, certain: bool) -> bool:
        """Expect these cells, by index, unless a process named its cells before; return True for the first one."""
        if self._is_planned:
            return False
        self._tests = {index: _Test(named, certain) for index, named in cells.items()}
        self._is_planned = True
        return True

    def receive(self, report: pytest.TestReport) -> Outcome | None:
        """Record a report; return its outcome with the predictions, if it has one. `attempt` counts the test's runs."""
        test = self._test_of(report)
        if test is None:
            return None
        test.reported = True
        test.passed |= report.when == "call" and report.passed
        if report.when == "setup":
            test.failed = False
        test.failed |= report.failed or (report.skipped and hasattr(report, "wasxfail"))
        test.unchanged = getattr(report, "puma_unchanged", None) or test.unchanged
        _record_fault(test, report)
        if (text := getattr(report, "puma_collected", None)) is not None:
            self.collected = self.collected or Collected()
            self.collected.add(text)
        outcome = taken(report, "puma")
        if outcome is None:
            return None
        test.attempts += 1
        outcome = replace(outcome, execution=replace(outcome.execution, attempt=test.attempts))
        test.outcome = replace(outcome, predictions=())
        return outcome

    def computed(self, test: str) -> bool | None:
        """Return whether the cell of a test has an outcome; None if the test has no cell."""
        outcomes = [planned.outcome for planned in self._in_order if planned.named.test == test]
        return all(outcomes) if outcomes else None

    @property
    def _in_order(self) -> list[_Test]:
        """The tests in the order of collection, as workers report in any order."""
        return [test for _, test in sorted(self._tests.items())]

    @property
    def planned(self) -> list[Named]:
        """The planned cells in the order of collection."""
        return [test.named for test in self._in_order]

    @property
    def cells(self) -> list[str]:
        """The ids of the planned cells."""
        return [named.cell for named in self.planned]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The last outcome of each test in the order of collection."""
        return tuple(test.outcome for test in self._in_order if test.outcome is not None)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Reasons why perturbed cells were not run, in the order of collection."""
        return tuple(test.unchanged for test in self._in_order if test.unchanged)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The tests that ended in an error or whose body failed, in the order of collection."""
        return tuple(fault for test in self._in_order for fault in test.faults.values())

    @property
    def overruled(self) -> list[tuple[str, Verdict]]:
        """The node ids and the failing verdicts of tests that were reported neither as failed nor as xfailed."""
        kept = (test.outcome for test in self._in_order if test.outcome is not None and not test.failed)
        return [(outcome.execution.node_id, verdict) for outcome in kept for verdict in outcome.failed]

    @property
    def missing(self) -> list[str]:
        """The node ids of tests that never reported, or passed without an outcome."""
        return [test.named.test for test in self._in_order if test.missing]

    def _test_of(self, report: pytest.TestReport) -> _Test | None:
        cell = getattr(report, "puma_cell", None)
        if cell is not None:
            named, self._is_planned = Named(report.nodeid, cell), True
            test = self._tests.setdefault(report.puma_index, _Test(named, certain=True))
            test.named, test.certain = named, True
            return test
        # A worker that ended reports no more phases of its test: xdist reports the crash instead, without an index.
        is_crash = report.when not in _PHASES
        tests = {index: test for index, test in self._tests.items() if test.named.test == report.nodeid}
        index = min((index for index, test in tests.items() if is_crash or not test.certain), default=None)
        if index is not None and report.when == "setup":
            # A benchmark would have reported its cell: this is another test with an id like one.
            del self._tests[index]
            return None
        return None if index is None else tests[index]


def _record_fault(test: _Test, report: pytest.TestReport) -> None:
    """Keep the fault of the last run of a test; missed gates are part of its outcome."""
    when = report.when if report.when in _PHASES else "crash"
    test.faults.pop(when, None)
    if report.failed and not getattr(report, "puma_missed", False):
        crash = getattr(report.longrepr, "reprcrash", None)
        text = (str(report.longrepr) if crash is None else str(crash.message)).strip()
        fault = Fault(cell=test.named.cell, node_id=report.nodeid, when=when, message=text.partition("\n")[0])
        test.faults[when] = fault


def taken(report: pytest.TestReport, name: str) -> Outcome | None:
    """Take an outcome, or the predictions alone, from a report; None if it has none.

    pytest keeps its reports, and all predictions of a run would fill the memory.
    """
    sent = getattr(report, name, None)
    if sent is None:
        return None
    setattr(report, name, None)
    return from_lines(sent)
