"""The file `predictions.jsonl` of a run folder, read cell by cell.

The end of a process, or a full disk, may have cut off the last cell. Only a line with its line feed is whole, and only
a cell with as many predictions as its first line announces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pytest_puma.codec.plain import storable
from pytest_puma.codec.predictions import CellLine, cell_from, prediction_from
from pytest_puma.core import CellId, DataError, Messages, Outcome, Prediction
from pytest_puma.phrases import described
from pytest_puma.platform.files import regular
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, REMOVED

T = TypeVar("T")
#: One attempt of one test of a cell: `cell`, `node_id`, `attempt`.
Owner: TypeAlias = tuple[str, str, int]
_CELL = re.compile(rb'\{\s*"kind":\s*"cell"')


def owner_of(outcome: Outcome) -> Owner:
    """Return the owner of an outcome, with names as the file has them."""
    return storable(outcome.cell), storable(outcome.execution.node_id), outcome.execution.attempt


@dataclass(slots=True, kw_only=True)
class StoredCell:
    """A cell of the file: its first line, the number of that, and the byte where the next one starts.

    `predictions`: the number of whole lines after it.
    """

    head: CellLine
    line: int
    start: int
    predictions: int = 0

    @property
    def owner(self) -> Owner:
        """The attempt of a test that wrote it."""
        return self.head.cell, self.head.node_id, self.head.attempt

    @property
    def name(self) -> CellId:
        """Its names."""
        return CellId.parse(self.head.cell)

    @property
    def test(self) -> str:
        """The id of its test function."""
        return self.head.node_id.partition("[")[0]

    @property
    def signature(self) -> Mapping[str, Any]:
        """Everything that could change its numbers."""
        return self.head.signature

    @property
    def shared(self) -> tuple[Messages, ...]:
        """The common beginnings of prompts."""
        return self.head.prompts or ()

    @property
    def is_whole(self) -> bool:
        """Whether all its predictions are there."""
        return self.predictions >= self.head.predictions


@dataclass(frozen=True)
class PredictionFile:
    """The file at a path. A `DataError`, which begins with `who`, names an unusable line."""

    path: Path
    who: str = ""

    @property
    def cells(self) -> tuple[StoredCell, ...]:
        """The cells in the order of the file, also those that are not whole."""
        return self._scanned[0]

    @cached_property
    def by_owner(self) -> Mapping[Owner, StoredCell]:
        """The cells by owner."""
        return {cell.owner: cell for cell in self.cells}

    @property
    def cut_off(self) -> tuple[str, ...]:
        """A sentence for each cell that is not whole, and for a cell of whose first line only a part is there."""
        cells, cut = self._scanned
        sentences = [
            f"{cell.head.cell} is cut off after {cell.predictions} of its {cell.head.predictions} predictions "
            f"in {PREDICTIONS}; the cell is left out"
            for cell in cells
            if not cell.is_whole
        ]
        if cut:
            sentences.append(f"line {cut} of {PREDICTIONS}, the first one of a cell, is cut off; the cell is left out")
        return tuple(sentences)

    def lacking(self, outcome: Outcome) -> str:
        """Return the beginning of a sentence if predictions of an outcome are missing, else an empty text."""
        cell = self.by_owner.get(owner_of(outcome))
        count = 0 if cell is None else cell.predictions
        if count >= outcome.execution.trials:
            return ""
        return f"{self.path}: {count} of the {outcome.execution.trials} predictions of {outcome.cell} are there"

    def predictions(self, cell: StoredCell) -> Iterator[Prediction]:
        """Yield the predictions of a cell."""
        return self.read(cell, lambda prediction: prediction)

    def read(self, cell: StoredCell, read: Callable[[Prediction], T]) -> Iterator[T]:
        """Yield what a function makes of each prediction of a cell; its errors name the line, too."""
        with self._opened() as stream:
            stream.seek(cell.start)
            for number, line in enumerate(islice(stream, cell.predictions), start=cell.line + 1):
                yield self._parsed(number, line, lambda line: read(_checked(prediction_from(line), cell)))

    @cached_property
    def _scanned(self) -> tuple[tuple[StoredCell, ...], int]:
        """The cells, and the number of a line that begins a cell and is cut off; 0 if there is none."""
        cells: list[StoredCell] = []
        end = 0
        with self._opened() as stream:
            for number, line in enumerate(stream, start=1):
                end += len(line)
                begins = _CELL.match(line)
                if not line.endswith(b"\n"):  # the last one
                    return tuple(cells), number if begins or (cells and cells[-1].is_whole) else 0
                if begins:
                    cells.append(StoredCell(head=self._parsed(number, line, cell_from), line=number, start=end))
                elif cells:
                    cells[-1].predictions += 1
                else:
                    raise self._fault(number, "no cell before it")
        return tuple(cells), 0

    def _parsed(self, number: int, line: bytes, read: Callable[[bytes], T]) -> T:
        try:
            return read(line)
        except (ValueError, RecursionError, LookupError, RuntimeError) as error:
            if b'"raw":' in line and b'"transcripts":' not in line:
                msg = (
                    f"{self.who}{self.path} is of an earlier format of pytest-puma, without transcripts; "
                    "run the benchmarks again: kept answers are not computed again"
                )
                raise DataError(msg) from error
            raise self._fault(number, f"{described(error)}") from error

    def _fault(self, number: int, problem: str) -> DataError:
        return DataError(
            f"{self.who}{self.path}: line {number} cannot be read ({problem}); "
            "expected a line that this version of pytest-puma wrote: is the file truncated?"
        )

    def _opened(self) -> Any:
        try:
            return regular(self.path).open("rb")
        except OSError as error:
            fault = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            removed = f"; {REMOVED}" if isinstance(error, FileNotFoundError) else ""
            msg = f"{self.who}{self.path}: {fault}; expected it beside {RECORD}: load the run folder{removed}"
            raise DataError(msg) from error


def stored_cells(folder: Path, owners: Collection[Owner]) -> Iterator[tuple[StoredCell, tuple[Prediction, ...]]]:
    """Yield these cells of a run folder in the order of the file, one after the other, without those that are cut off.

    Nothing if the run has no file of predictions. A `DataError` names a line that cannot be read.
    """
    file = PredictionFile(folder / PREDICTIONS)
    for cell in file.cells if file.path.is_file() else ():
        if cell.owner in owners and cell.is_whole:
            yield cell, tuple(file.predictions(cell))


def _checked(prediction: Prediction, cell: StoredCell) -> Prediction:
    prompts = [prompt for prompt in prediction.transcript.prompts if prompt is not None]
    if len(prompts) > len(cell.shared) or not all(prompts):
        found = f"{len(prompts)} prompts" if all(prompts) else "a prompt without a message"
        msg = f"found {found}; expected up to {len(cell.shared)}, as its cell has common beginnings"
        raise ValueError(msg)
    return prediction
