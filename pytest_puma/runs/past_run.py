"""A finished run, read back from its folder; and the older side of a comparison.

past = PastRun(folder)
for outcome in past.run.outcomes:
    past.answered(outcome)          # one cell at a time, with its predictions
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Baselines
from pytest_puma.codec.nouns import read
from pytest_puma.codec.shapes import RECORD as RECORD_SHAPE
from pytest_puma.core import DataError, Outcome, PumaError, Run
from pytest_puma.metrics import source_of
from pytest_puma.phrases import one_line
from pytest_puma.platform.files import regular
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.platform.shape import misfit
from pytest_puma.runs.prediction_file import PredictionFile, owner_of
from pytest_puma.runs.run_folder import FORMAT
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, newest_run


@dataclass(frozen=True)
class PastRun:
    """The finished run in a folder. A `DataError`, which begins with `who`, names an unusable file.

    `record_name`: the name of the file with its record.
    """

    folder: Path
    record_name: str = RECORD
    who: str = ""

    @cached_property
    def record(self) -> dict[str, Any]:
        """The content of its `run.json`."""
        path = f"{self.who}{self.path}"
        try:
            data = parse_json(regular(self.path).read_text(encoding="utf-8"))
        except OSError as error:
            msg = f"{path}: cannot be read ({error.strerror}); expected the {RECORD} that a finished run wrote"
            raise DataError(msg) from error
        except ValueError as error:
            msg = f"{path}: not JSON ({error}); expected the {RECORD} of a run: is the file truncated?"
            raise DataError(msg) from error
        found = data.get("format") if isinstance(data, dict) else None
        if found != FORMAT:
            msg = f"{path}: format {found!r}; expected {FORMAT}, the {RECORD} that this version of pytest-puma writes"
            raise DataError(msg)
        return dict(data)

    @cached_property
    def run(self) -> Run:
        """The run, its outcomes without predictions, and without data that only the run itself needed."""
        data = self.record
        try:
            if fault := misfit(data, RECORD_SHAPE):
                raise ValueError(fault)  # noqa: TRY301 - one sentence for all faults of a record
            run = read(Run, data)
        except (ValueError, TypeError, PumaError) as error:
            msg = f"{self.who}{self.path}: {one_line(error)}; expected the {RECORD} that pytest-puma wrote"
            raise DataError(msg) from error
        return _with_notes(run, data.get("notes", ()))

    @property
    def path(self) -> Path:
        """The path of its record."""
        return self.folder / self.record_name

    @cached_property
    def file(self) -> PredictionFile:
        """Its predictions, which may have been removed."""
        return PredictionFile(self.folder / PREDICTIONS, who=self.who)

    def answered(self, outcome: Outcome) -> Outcome:
        """Return an outcome of this run with its predictions and prompts; a `DataError` if they are not whole."""
        if lacking := self.file.lacking(outcome):
            msg = f"{lacking}; was the run cut off, or the disk full?"
            raise DataError(msg)
        cell = self.file.by_owner[owner_of(outcome)]
        execution = replace(outcome.execution, shared_prompts=cell.shared)
        return replace(outcome, predictions=tuple(self.file.predictions(cell)), execution=execution)


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


def last_flips(root: Path) -> dict[str, frozenset[str]]:
    """Return the flipped samples of the newest run of a project, by cell; a `DataError` if there are none."""
    newest = newest_run(runs_of(root))
    try:
        outcomes = () if newest is None else PastRun(newest.parent).run.outcomes
    except DataError as error:
        msg = f"{error}; run again"
        raise DataError(msg) from error
    by_cell = {outcome.cell: frozenset(flip.sample_id for flip in outcome.judgement.flips) for outcome in outcomes}
    flips = {cell: samples for cell, samples in by_cell.items() if samples}
    if not flips:
        missing = f"run in {runs_of(root)}" if newest is None else f"flips in {newest.parent}"
        msg = f"found no {missing}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    return flips


def _with_notes(run: Run, notes: Sequence[str]) -> Run:
    """Give the notes on models, which the file has once, to the first outcome of each model."""
    outcomes, seen = [], set[str]()
    for outcome in run.outcomes:
        start = f"{outcome.name.model}: "
        found = () if outcome.name.model in seen else (note[len(start) :] for note in notes if note.startswith(start))
        outcomes.append(replace(outcome, execution=replace(outcome.execution, notes=tuple(found))))
        seen.add(outcome.name.model)
    return replace(run, outcomes=tuple(outcomes))


def _entry(past: PastRun, outcome: Outcome, metrics: Collection[str]) -> Entry:
    try:
        outcome = past.answered(outcome)
    except DataError:
        if past.file.path.exists():
            raise
    test = outcome.execution.node_id.partition("[")[0]
    return Entry.of(outcome, commit=past.run.invocation.revision, test=test, source_of=source_of, metrics=metrics)


def _stored(entry: Entry, _: Collection[str]) -> Entry:
    return entry
