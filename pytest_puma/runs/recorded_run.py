"""A run whose conversations can be held again without a model, and the ways to name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_puma.codec.shapes import RESCORED_SIGNATURE
from pytest_puma.core import CellId, DataError, Key, Messages, Prediction, Turn
from pytest_puma.core.shared import whole_prompts
from pytest_puma.platform.shape import misfit
from pytest_puma.platform.user_path import user_path
from pytest_puma.runs.prediction_file import PredictionFile, StoredCell
from pytest_puma.runs.run_folder import PREDICTIONS, RECORD, REMOVED
from pytest_puma.runs.run_order import oldest_first

#: The argument that means the newest run.
LAST = "last"
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCell:
    """A whole cell of a run: its names, and its predictions in the file. `test`: the id of its test function."""

    name: CellId
    test: str
    stored: StoredCell

    @property
    def signature(self) -> Mapping[str, Any]:
        """Everything that could change its numbers."""
        return self.stored.head.signature


@dataclass(frozen=True)
class RecordedRun:
    """The run whose predictions are in the file `path`."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the run folder."""
        return self.path.parent.name

    @cached_property
    def cells(self) -> Mapping[str, RecordedCell]:
        """The cells by id. Of a test that ran several times, the last attempt counts."""
        cells = {cell.head.cell: self._cell(cell) for cell in self._file.cells if cell.is_whole}
        if not cells:
            problem = "; ".join(("no whole cell in it", *self.cut_off)) if self.cut_off else "no cell in it"
            msg = f"{self.path}: {problem}; expected the predictions of a run: run again"
            raise DataError(msg)
        return cells

    @property
    def cut_off(self) -> tuple[str, ...]:
        """A sentence for each cell that is left out, as the end of the run or a full disk has cut it off."""
        return self._file.cut_off

    def conversations(self, cell: RecordedCell) -> dict[Key, list[Turn]]:
        """Return the turns of the conversation about each trial of a cell, each with its whole prompt."""
        return dict(self._file.read(cell.stored, lambda prediction: _conversation(prediction, cell.stored.shared)))

    @cached_property
    def _file(self) -> PredictionFile:
        return PredictionFile(self.path)

    def _cell(self, cell: StoredCell) -> RecordedCell:
        if fault := misfit(cell.head.signature, RESCORED_SIGNATURE):
            msg = f"{self.path}: line {cell.line} cannot be read (signature.{fault}); expected that of a run"
            raise DataError(msg)
        if cell.head.prompts is None:
            msg = (
                f"{self.path}: the run kept no prompts (ini key puma_keep_prompts), so answers cannot be matched; "
                "set it to true and run again"
            )
            raise DataError(msg)
        return RecordedCell(name=CellId.parse(cell.head.cell), test=cell.head.node_id.partition("[")[0], stored=cell)


def _conversation(prediction: Prediction, shared: tuple[Messages, ...]) -> tuple[Key, list[Turn]]:
    transcript = prediction.transcript
    prompts = whole_prompts(shared, transcript.prompts)
    turns = [replace(turn, prompt=prompt) for turn, prompt in zip(transcript.turns, prompts, strict=True)]
    return prediction.key, turns


def find_run(text: str, runs: Path, here: Path) -> RecordedRun | None:
    """Return the run that an argument means: `last`, the name of a folder in `runs`, or a path from `here`.

    None if it means no run; errors as in `run_in`.
    """
    if text == LAST:
        files = oldest_first(runs, PREDICTIONS)
        return RecordedRun(files[-1].absolute()) if files else None
    path = here / user_path(text)
    folders = (runs / text, path, path.parent if path.name in {PREDICTIONS, RECORD} else path)
    recorded = (folder for name in (PREDICTIONS, RECORD) for folder in folders if (folder / name).is_file())
    folder = next(recorded, None)
    return None if folder is None else run_in(folder)


def run_in(folder: Path) -> RecordedRun:
    """Return the run in its folder. If its predictions were removed, a `DataError` names the newest runs beside it."""
    run = RecordedRun(folder.absolute() / PREDICTIONS)
    if not run.path.is_file():
        names = [file.parent.name for file in oldest_first(folder.parent, PREDICTIONS)[: -_MAX_NAMED - 1 : -1]]
        newest = f"; the newest runs are {', '.join(names)}" if names else ""
        msg = f"found no {PREDICTIONS} of this run; {REMOVED}{newest}"
        raise DataError(msg)
    return run
