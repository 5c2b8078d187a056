"""A finished run, read back from its folder.

past = PastRun(folder)
for outcome in past.outcomes():     # one cell at a time, with its predictions
    ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_puma.codec.deserialize import read
from pytest_puma.codec.shapes import RECORD as RECORD_SHAPE
from pytest_puma.core import CellId, DataError, Outcome, PumaError, Run
from pytest_puma.errors import one_line
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.regular_file import regular
from pytest_puma.platform.shape import misfit
from pytest_puma.runs.prediction_file import PredictionFile
from pytest_puma.runs.record import FORMAT
from pytest_puma.runs.run_folder import PREDICTIONS, RECORD


def read_record(path: Path, *, who: str = "") -> dict[str, Any]:
    """Return the content of a `run.json`; a `DataError`, which begins with `who`, names a file that is none."""
    try:
        data = parse_json(regular(path).read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{who}{path}: cannot be read ({error.strerror}); expected the {RECORD} that a finished run wrote"
        raise DataError(msg) from error
    except ValueError as error:
        msg = f"{who}{path}: not JSON ({error}); expected the {RECORD} of a run: is the file truncated?"
        raise DataError(msg) from error
    if not isinstance(data, dict) or not {"format", "outcomes", "verdicts"} <= data.keys():
        msg = f"{who}{path}: not the record of a run; expected the {RECORD} that pytest-puma wrote"
        raise DataError(msg)
    if data["format"] != FORMAT:
        msg = f"{who}{path}: format {data['format']!r}; expected {FORMAT}: load it with the version that wrote it"
        raise DataError(msg)
    if fault := misfit(data, RECORD_SHAPE):
        raise _unusable(path, fault, who=who)
    return data


def read_run(folder: Path) -> Run:
    """Return the run of a folder, its outcomes without predictions; a `DataError` names an unusable `run.json`.

    What only the run itself needed, such as the replicates of a comparison, is not in the file.
    """
    path = folder / RECORD
    data = read_record(path)
    try:
        outcomes = [{"predictions": []} | outcome for outcome in data["outcomes"]]
        run = read(Run, data | {"outcomes": outcomes})
        _ = [CellId.parse(outcome.cell) for outcome in run.outcomes]
    except (ValueError, TypeError, PumaError) as error:
        raise _unusable(path, one_line(error)) from error
    return _with_notes(run, data.get("notes", ()))


@dataclass(frozen=True)
class PastRun:
    """The finished run in a folder."""

    folder: Path

    @cached_property
    def run(self) -> Run:
        """The run, its outcomes without predictions."""
        return read_run(self.folder)

    @cached_property
    def file(self) -> PredictionFile:
        """Its predictions, which may have been removed."""
        return PredictionFile(self.folder / PREDICTIONS)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each outcome with its predictions; errors as in `answered`."""
        return map(self.answered, self.run.outcomes)

    def answered(self, outcome: Outcome) -> Outcome:
        """Return an outcome of this run with its predictions and prompts; a `DataError` if they are not whole."""
        owner = (outcome.cell, outcome.node_id, outcome.attempt)
        if (there := self.file.count(owner)) < outcome.trials:
            msg = (
                f"{self.file.path}: {there} of the {outcome.trials} predictions of {outcome.cell} are there; "
                "was the run cut off, or the disk full?"
            )
            raise DataError(msg)
        return replace(outcome, predictions=self.file.predictions(owner), shared_prompts=self.file.places[owner].shared)


def _with_notes(run: Run, notes: Any) -> Run:
    """Give the notes on models, which the file has once, to the first outcome of each model."""
    outcomes, seen = [], set[str]()
    for outcome in run.outcomes:
        own = [] if outcome.model in seen else [str(note) for note in notes]
        start = f"{outcome.model}: "
        outcomes.append(replace(outcome, notes=tuple(each[len(start) :] for each in own if each.startswith(start))))
        seen.add(outcome.model)
    return replace(run, outcomes=tuple(outcomes))


def _unusable(path: Path, fault: str, *, who: str = "") -> DataError:
    return DataError(f"{who}{path}: {fault}; expected the {RECORD} that pytest-puma wrote")
