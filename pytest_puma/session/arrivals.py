"""What arrived of what was planned: the cells of a run and their outcomes, as the reports of their tests come in.

Everything goes by the place of a test in the collection, which all workers share: node ids may be equal, and say only
about where a cell's id begins and ends in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.collected import Collected
from pytest_puma.session.nodeid import Named

if TYPE_CHECKING:
    from pytest_puma.core import Outcome


class Arrivals:
    """`collected` is None until a process told it."""

    def __init__(self) -> None:
        self.collected: Collected | None = None
        self._planned: dict[int, Named] | None = None
        self._certain: set[int] = set()
        self._reported: set[int] = set()
        self._silent: set[int] = set()
        self._outcomes: dict[int, Outcome] = {}
        self._unchanged: dict[int, str] = {}
        self._attempts: Counter[int] = Counter()

    def plan(self, cells: Mapping[int, Named], *, certain: bool) -> bool:
        """Wait for these, by their places, unless a process told them before; whether it is the first."""
        if self._planned is not None:
            return False
        self._planned = dict(cells)
        self._certain = set(cells) if certain else set()
        return True

    def hear(self, report: pytest.TestReport) -> Outcome | None:
        """The outcome that a report brings, with its predictions, if any; its attempt counts those of the test."""
        place = self._place(report)
        if place is None:
            return None
        self._reported.add(place)
        self._hear_collected(report)
        if unchanged := getattr(report, "puma_unchanged", None):
            self._unchanged[place] = unchanged
        sent = getattr(report, "puma", None)
        if sent is None:
            if report.when == "call" and report.passed and place not in self._outcomes:
                self._silent.add(place)
            return None
        from pytest_puma.report.wire import from_json

        self._attempts[place] += 1
        outcome = replace(from_json(sent), attempt=self._attempts[place])
        # pytest keeps its reports to the end; the predictions of a long run would fill the memory.
        report.puma = None  # type: ignore[attr-defined]
        self._outcomes[place] = replace(outcome, predictions=())
        return outcome

    @property
    def planned(self) -> list[Named]:
        """In the order of collection."""
        return [named for _, named in sorted((self._planned or {}).items())]

    @property
    def cells(self) -> list[str]:
        """The ids of the planned cells."""
        return [named.cell for named in self.planned]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The last one of each test, in the order of collection: workers report as they finish."""
        return tuple(outcome for _, outcome in sorted(self._outcomes.items()))

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Why perturbed cells were not run: sentences, in the order of collection."""
        return tuple(why for _, why in sorted(self._unchanged.items()))

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
        guessed = (place for place in planned.keys() - self._certain if planned[place].test == report.nodeid)
        place = min(guessed, default=None)
        if place is not None and report.when == "setup":
            # A benchmark would have said so: this is a test whose id looks like one.
            del planned[place]
            return None
        return place

    def _hear_collected(self, report: pytest.TestReport) -> None:
        told = getattr(report, "puma_collected", None)
        if told is not None:
            self.collected = self.collected or Collected()
            self.collected.add(told)
