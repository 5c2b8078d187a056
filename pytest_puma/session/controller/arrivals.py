"""Planned cells and their outcomes, as the reports of the tests arrive.

The key of a test is its place in the collection, which all workers share. Node ids are no keys: several tests may have
the same one, and the position of the cell id in them is uncertain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.collected import Collected
from pytest_puma.session.workers.nodeid import Named

if TYPE_CHECKING:
    from pytest_puma.core import Fault, Outcome, Verdict

_PHASES = ("setup", "call", "teardown")


class Arrivals:
    """Planned cells, outcomes and faults of a run. `collected` is None until a process reports it."""

    def __init__(self) -> None:
        self.collected: Collected | None = None
        self._planned: dict[int, Named] | None = None
        self._certain: set[int] = set()
        self._reported: set[int] = set()
        self._silent: set[int] = set()
        self._failed: set[int] = set()
        self._outcomes: dict[int, Outcome] = {}
        self._unchanged: dict[int, str] = {}
        self._attempts: Counter[int] = Counter()
        self._faults: dict[tuple[int, str], Fault] = {}

    def plan(self, cells: Mapping[int, Named], *, certain: bool) -> bool:
        """Expect these cells, by place, unless a process named its cells before; return True for the first one."""
        if self._planned is not None:
            return False
        self._planned = dict(cells)
        self._certain = set(cells) if certain else set()
        return True

    def receive(self, report: pytest.TestReport) -> Outcome | None:
        """Record a report; return its outcome with the predictions, if it has one. `attempt` counts the test's runs."""
        place = self._place(report)
        if place is None:
            return None
        self._reported.add(place)
        self._record_failure(place, report)
        self._record_fault(place, report)
        self._record_collected(report)
        if unchanged := getattr(report, "puma_unchanged", None):
            self._unchanged[place] = unchanged
        sent = getattr(report, "puma", None)
        if sent is None:
            if report.when == "call" and report.passed and place not in self._outcomes:
                self._silent.add(place)
            return None
        from pytest_puma.codec.deserialize import from_lines

        self._attempts[place] += 1
        outcome = replace(from_lines(sent), attempt=self._attempts[place])
        # pytest keeps its reports to the end; the predictions of a long run would fill the memory.
        report.puma = None  # type: ignore[attr-defined]
        self._outcomes[place] = replace(outcome, predictions=())
        return outcome

    def take_unassessed(self, report: pytest.TestReport) -> Outcome | None:
        """Return the predictions of a cell whose metric raised, once."""
        sent = getattr(report, "puma_unassessed", None)
        if sent is None:
            return None
        from pytest_puma.codec.deserialize import from_lines

        report.puma_unassessed = None  # type: ignore[attr-defined]
        return from_lines(sent)

    def computed(self, test: str) -> bool | None:
        """Return whether the cell of a test has an outcome; None if the test has no cell."""
        places = [place for place, named in (self._planned or {}).items() if named.test == test]
        return all(place in self._outcomes for place in places) if places else None

    @property
    def planned(self) -> list[Named]:
        """The planned cells in the order of collection."""
        return [named for _, named in sorted((self._planned or {}).items())]

    @property
    def cells(self) -> list[str]:
        """The ids of the planned cells."""
        return [named.cell for named in self.planned]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The last outcome of each test in the order of collection, as workers report in any order."""
        return tuple(outcome for _, outcome in sorted(self._outcomes.items()))

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Reasons why perturbed cells were not run, in the order of collection."""
        return tuple(why for _, why in sorted(self._unchanged.items()))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The tests that ended in an error or whose body failed, in the order of collection."""
        return tuple(fault for (place, _), fault in sorted(self._faults.items(), key=lambda entry: entry[0][0]))

    @property
    def overruled(self) -> list[tuple[str, Verdict]]:
        """The node ids and the failing verdicts of tests that were reported neither as failed nor as xfailed."""
        kept = ((place, outcome) for place, outcome in sorted(self._outcomes.items()) if place not in self._failed)
        return [(outcome.node_id, verdict) for _, outcome in kept for verdict in outcome.failed]

    @property
    def missing(self) -> list[str]:
        """The node ids of tests that never reported, or passed without an outcome."""
        places = sorted((self._planned or {}).items())
        return [named.test for place, named in places if place not in self._reported or place in self._silent]

    def _place(self, report: pytest.TestReport) -> int | None:
        planned = {} if self._planned is None else self._planned
        cell, place = getattr(report, "puma_cell", None), getattr(report, "puma_place", None)
        if cell is not None and place is not None:
            self._planned = planned | {place: Named(report.nodeid, cell)}
            self._certain.add(place)
            return int(place)
        # A worker that ended reports no more phases of its test: xdist reports the crash instead, without a place.
        candidates = planned.keys() if report.when not in _PHASES else planned.keys() - self._certain
        place = min((place for place in candidates if planned[place].test == report.nodeid), default=None)
        if place is not None and report.when == "setup":
            # A benchmark would have reported its cell: this is another test with an id like one.
            del planned[place]
            return None
        return place

    def _record_failure(self, place: int, report: pytest.TestReport) -> None:
        """Keep whether the last run of a test failed, or xfailed."""
        if report.when == "setup":
            self._failed.discard(place)
        if report.failed or (report.skipped and hasattr(report, "wasxfail")):
            self._failed.add(place)

    def _record_fault(self, place: int, report: pytest.TestReport) -> None:
        """Keep the fault of the last run of a test; missed gates are part of its outcome."""
        from pytest_puma.core import Fault

        when = report.when if report.when in _PHASES else "crash"
        self._faults.pop((place, when), None)
        if report.failed and not getattr(report, "puma_missed", False):
            named = (self._planned or {})[place]
            message = first_line(report)
            self._faults[place, when] = Fault(cell=named.cell, node_id=report.nodeid, when=when, message=message)

    def _record_collected(self, report: pytest.TestReport) -> None:
        text = getattr(report, "puma_collected", None)
        if text is not None:
            self.collected = self.collected or Collected()
            self.collected.add(text)


def first_line(report: pytest.TestReport) -> str:
    """Return the first line of a failure: the message of its exception if there is one."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return (str(report.longrepr) if crash is None else str(crash.message)).strip().partition("\n")[0]
