"""The cells of a run folder with their predictions, one after the other: a long run would fill the memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_puma.core import Prediction
from pytest_puma.runs.prediction_file import Owner, PredictionFile, StoredCell
from pytest_puma.runs.run_folder import PREDICTIONS


def stored_cells(folder: Path, owners: Collection[Owner]) -> Iterator[tuple[StoredCell, tuple[Prediction, ...]]]:
    """Yield these cells in the order of the file, without those that are cut off.

    Nothing if the run has no file of predictions. A `DataError` names a line that cannot be read.
    """
    file = PredictionFile(folder / PREDICTIONS)
    for cell in file.cells if file.path.is_file() else ():
        if cell.owner in owners and cell.is_whole:
            yield cell, tuple(file.predictions(cell))
