"""The older side of a comparison: an earlier run, or the stored baselines of a project."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pytest_puma.baseline import Baselines, Entry
from pytest_puma.core import CellId, DataError, Outcome, TaskInfo
from pytest_puma.runs.past_run import PastRun


class Older(Protocol):
    """Cells with their answers, as entries of a baseline."""

    @property
    def name(self) -> str:
        """The name in sentences."""

    @property
    def cells(self) -> Sequence[str]:
        """The ids of its cells."""

    def entry(self, cell: str, metrics: Collection[str]) -> Entry:
        """Return a cell with the scores of some metrics; without answers if these are gone."""

    def task(self, cell: str) -> TaskInfo | None:
        """Return the task of a cell if it is known."""


@dataclass(frozen=True)
class OlderRun:
    """An earlier run; `name` as in `run 41`."""

    name: str
    past: PastRun

    @property
    def cells(self) -> Sequence[str]:
        """The ids of its cells."""
        return list(self._outcomes)

    def entry(self, cell: str, metrics: Collection[str]) -> Entry:
        """Return a cell; without answers if its predictions were removed."""
        outcome = self._outcomes[cell]
        try:
            outcome = self.past.answered(outcome)
        except DataError:
            if self.past.file.path.exists():
                raise
        test = outcome.node_id.partition("[")[0]
        return Entry.of(outcome, commit=self.past.run.invocation.revision, test=test, metrics=metrics)

    def task(self, cell: str) -> TaskInfo | None:
        """Return the task of a cell, None in a run of an older version."""
        return self._outcomes[cell].task

    @cached_property
    def _outcomes(self) -> dict[str, Outcome]:
        return {outcome.cell: outcome for outcome in self.past.run.outcomes}


@dataclass(frozen=True, kw_only=True)
class OlderCell:
    """One cell of an earlier run, to be compared with the cell `against`, of any strategy and model."""

    run: OlderRun
    cell: str
    against: str

    @property
    def name(self) -> str:
        """The name in sentences."""
        return f"{self.cell} of {self.run.name}"

    @property
    def cells(self) -> Sequence[str]:
        """The id of the other cell, as if both had it."""
        return [self.against]

    def entry(self, cell: str, metrics: Collection[str]) -> Entry:  # noqa: ARG002 - there is one cell
        """Return the cell."""
        return self.run.entry(self.cell, metrics)

    def task(self, cell: str) -> TaskInfo | None:  # noqa: ARG002 - there is one cell
        """Return the task of the cell."""
        return self.run.task(self.cell)


@dataclass(frozen=True)
class OlderBaselines:
    """The stored baselines of a project."""

    baselines: Baselines
    name: str = "the baseline"

    @cached_property
    def cells(self) -> Sequence[str]:
        """The ids of all cells with a baseline."""
        return [entry.cell for entry in self.baselines.entries()]

    def entry(self, cell: str, metrics: Collection[str]) -> Entry:  # noqa: ARG002 - a baseline has those of its gates
        """Return the baseline of a cell."""
        entry = self.baselines.find(CellId.parse(cell).scenario, cell)
        if entry is None:
            msg = f"{self.baselines.folder}: no baseline of {cell}"
            raise DataError(msg)
        return entry

    def task(self, cell: str) -> None:
        """A baseline does not know its task."""
