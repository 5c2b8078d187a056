"""The cells of a run folder with their predictions, one after the other: a long run would fill the memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import Messages, Prediction
from pytest_puma.runs.prediction_file import Owner, PredictionFile
from pytest_puma.runs.run_folder import PREDICTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCell:
    """The predictions of a cell, and the common beginnings of their prompts."""

    owner: Owner
    shared: tuple[Messages, ...]
    predictions: tuple[Prediction, ...]


def stored_cells(folder: Path, owners: Collection[Owner]) -> Iterator[StoredCell]:
    """Yield these cells in the order of the file, without those that are cut off.

    Nothing if the run has no file of predictions. A `DataError` names a line that cannot be read.
    """
    file = PredictionFile(folder / PREDICTIONS)
    if not file.path.is_file():
        return
    for owner, place in file.places.items():
        if owner in owners and file.count(owner) >= place.announced:
            yield StoredCell(owner=owner, shared=place.shared, predictions=file.predictions(owner))
