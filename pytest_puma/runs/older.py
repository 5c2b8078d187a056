"""The older side of a comparison: an earlier run, a cell of one, or the stored baselines of a project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import DataError, Outcome
from pytest_puma.metrics import source_of
from pytest_puma.runs.past_run import PastRun


@dataclass(frozen=True)
class Older:
    """Cells with their answers, as entries of a baseline.

    `name`: in sentences. `cells`: by id, a function that returns the cell with the scores of some metrics; without
    answers if these are gone.
    """

    name: str
    cells: Mapping[str, Callable[[Collection[str]], Entry]]

    @classmethod
    def of_run(cls, name: str, past: PastRun) -> Older:
        """Make it of an earlier run; `name` as in `run 41`. A `DataError` names an unusable record."""
        return cls(name, {outcome.cell: partial(_entry, past, outcome) for outcome in past.run.outcomes})

    @classmethod
    def of_baselines(cls, baselines: Baselines) -> Older:
        """Make it of the stored baselines of a project, which have the scores of their gates alone."""
        return cls("the baseline", {entry.cell: partial(_stored, entry) for entry in baselines.entries()})

    def of_cell(self, cell: str, against: str) -> Older:
        """Make it of one cell, as if it were the cell `against`, of any strategy and model."""
        return Older(f"{cell} of {self.name}", {against: self.cells[cell]})


def _entry(past: PastRun, outcome: Outcome, metrics: Collection[str]) -> Entry:
    try:
        outcome = past.answered(outcome)
    except DataError:
        if past.file.path.exists():
            raise
    test = outcome.node_id.partition("[")[0]
    return Entry.of(outcome, commit=past.run.invocation.revision, test=test, source_of=source_of, metrics=metrics)


def _stored(entry: Entry, _: Collection[str]) -> Entry:
    return entry
