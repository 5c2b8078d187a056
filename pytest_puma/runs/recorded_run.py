"""A run whose conversations can be held again without a model, and the ways to name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pytest_puma.codec.shapes import RESCORED_SIGNATURE
from pytest_puma.core import DataError, Key, Messages, Prediction, Turn
from pytest_puma.core.shared import whole_prompts
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.platform.shape import misfit
from pytest_puma.platform.user_path import user_path
from pytest_puma.runs.prediction_file import PredictionFile, StoredCell
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, REMOVED, oldest_first

#: The argument that means the newest run.
_LAST = "last"
_MAX_NAMED = 3


@dataclass(frozen=True)
class RecordedRun:
    """The run whose predictions are in the file `path`."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the run folder."""
        return self.path.parent.name

    @cached_property
    def cells(self) -> Mapping[str, StoredCell]:
        """The cells by id. Of a test that ran several times, the last attempt counts."""
        cells = {cell.head.cell: self._checked(cell) for cell in self._file.cells if cell.is_whole}
        if not cells:
            problem = "; ".join(("no whole cell in it", *self.cut_off)) if self.cut_off else "no cell in it"
            msg = f"{self.path}: {problem}; expected the predictions of a run: run again"
            raise DataError(msg)
        return cells

    @property
    def cut_off(self) -> tuple[str, ...]:
        """A sentence for each cell that is left out, as the end of the run or a full disk has cut it off."""
        return self._file.cut_off

    def conversations(self, cell: StoredCell) -> dict[Key, list[Turn]]:
        """Return the turns of the conversation about each trial of a cell, each with its whole prompt."""
        return dict(self._file.read(cell, lambda prediction: _conversation(prediction, cell.shared)))

    @cached_property
    def _file(self) -> PredictionFile:
        return PredictionFile(self.path)

    def _checked(self, cell: StoredCell) -> StoredCell:
        if fault := misfit(cell.head.signature, RESCORED_SIGNATURE):
            msg = f"{self.path}: line {cell.line} cannot be read (signature.{fault}); expected that of a run"
            raise DataError(msg)
        if cell.head.prompts is None:
            msg = (
                f"{self.path}: the run kept no prompts (ini key puma_keep_prompts), so answers cannot be matched; "
                "set it to true and run again"
            )
            raise DataError(msg)
        return cell


def _conversation(prediction: Prediction, shared: tuple[Messages, ...]) -> tuple[Key, list[Turn]]:
    transcript = prediction.transcript
    prompts = whole_prompts(shared, transcript.prompts)
    turns = [replace(turn, prompt=prompt) for turn, prompt in zip(transcript.turns, prompts, strict=True)]
    return prediction.key, turns


def find_recorded(text: str, root: Path, here: Path) -> RecordedRun:
    """Return the run of the project in `root` that a text means; a path is one from `here`.

    Folders come first, as a run that was cut off has no number, then names as in `names`. A `DataError` names similar
    runs, or the newest ones if the predictions of the run were removed.
    """
    from pytest_puma.runs.names import run_in_project

    runs = runs_of(root)
    folder = _folder(text, runs, here)
    if folder is None:
        try:
            folder = runs / run_in_project(text, root).name
        except DataError as error:
            msg = f"found no {PREDICTIONS} in a folder of this name; {error}"
            raise DataError(msg) from error
    run = RecordedRun(folder.absolute() / PREDICTIONS)
    if not run.path.is_file():
        names = [file.parent.name for file in oldest_first(folder.parent, PREDICTIONS)[: -_MAX_NAMED - 1 : -1]]
        newest = f"; the newest runs are {', '.join(names)}" if names else ""
        msg = f"found no {PREDICTIONS} of this run; {REMOVED}{newest}"
        raise DataError(msg)
    return run


def _folder(text: str, runs: Path, here: Path) -> Path | None:
    """The run folder that a text means: `last`, the name of one in `runs`, or a path; None if it means none."""
    if text == _LAST:
        return next((file.parent for file in reversed(oldest_first(runs, PREDICTIONS))), None)
    path = here / user_path(text)
    folders = (runs / text, path, path.parent if path.name in {PREDICTIONS, RECORD} else path)
    recorded = (folder for name in (PREDICTIONS, RECORD) for folder in folders if (folder / name).is_file())
    return next(recorded, None)
