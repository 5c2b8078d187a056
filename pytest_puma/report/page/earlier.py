"""The run that gave the old answers of flips, as far as the project still has its predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.codec.plain import storable
from pytest_puma.core import DataError, Flip, Key, Messages, Outcome, Prediction
from pytest_puma.report.page.encoding import key_of
from pytest_puma.runs.prediction_file import PredictionFile
from pytest_puma.runs.run_order import PREDICTIONS, oldest_first

#: Runs before this one in which the old answers are looked for.
_MAX_RUNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A cell of an earlier run: the common `starts` of its prompts, and its predictions by key."""

    run: str
    starts: Sequence[Messages]
    predictions: Mapping[Key, Prediction]


class EarlierRuns:
    """The runs of a project before that of a folder."""

    def __init__(self, folder: Path) -> None:
        own = folder / PREDICTIONS
        files = oldest_first(folder.parent, PREDICTIONS)
        before = files[: files.index(own)] if own in files else []
        self._files = [PredictionFile(path) for path in reversed(before[-_MAX_RUNS:])]

    def cell(self, outcome: Outcome, flips: Sequence[Flip]) -> Earlier | None:
        """Return the cell of the newest run with the old answers of all flips, None without one.

        A run whose predictions cannot be read is none.
        """
        for file in self._files if flips else ():
            with suppress(DataError):
                found = _cell(file, outcome)
                if found and all(_is_old(found.predictions.get(key_of(flip)), flip) for flip in flips):
                    return found
        return None


def _cell(file: PredictionFile, outcome: Outcome) -> Earlier | None:
    for cell in file.cells:
        if cell.head.cell == storable(outcome.cell) and cell.is_whole:
            predictions = {prediction.key: prediction for prediction in file.predictions(cell)}
            return Earlier(run=file.path.parent.name, starts=cell.shared, predictions=predictions)
    return None


def _is_old(prediction: Prediction | None, flip: Flip) -> bool:
    return prediction is not None and prediction.answer == flip.old
