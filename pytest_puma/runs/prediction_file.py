"""The predictions of a finished run: one pass over `predictions.jsonl` finds the cells, then each is read by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pytest_puma.codec.deserialize import messages_from, prediction_from
from pytest_puma.codec.shapes import CELL, PREDICTION
from pytest_puma.core import DataError, Messages, Prediction
from pytest_puma.errors import one_line
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.regular_file import regular
from pytest_puma.platform.shape import misfit
from pytest_puma.runs.cell_lines import CellLines, cells_of
from pytest_puma.runs.run_folder import RECORD, REMOVED

T = TypeVar("T")
#: One attempt of one test of a cell: `cell`, `node_id`, `attempt`.
Owner: TypeAlias = tuple[str, str, int]


def owner_of(data: Mapping[str, Any]) -> Owner:
    """Return the owner of a line, or of an outcome in `run.json`."""
    return data["cell"], data["node_id"], data["attempt"]


@dataclass(frozen=True, slots=True)
class Place:
    """A cell in the file: its lines, the `announced` number of predictions, the common beginnings of prompts."""

    lines: CellLines
    announced: int
    shared: tuple[Messages, ...]


@dataclass(frozen=True)
class PredictionFile:
    """The file `predictions.jsonl` of a run folder. A `DataError`, which begins with `who`, names an unusable line."""

    path: Path
    who: str = ""

    @cached_property
    def places(self) -> Mapping[Owner, Place]:
        """The cells in the order of the file. One whose first line is cut off is left out."""
        with self._opened() as stream:
            cells = [each for each in cells_of(stream, where=f"{self.who}{self.path}") if each.first_is_whole]
        return dict(self._parsed(cell.number, cell.first, CELL, partial(_placed, cell)) for cell in cells)

    def count(self, owner: Owner) -> int:
        """Return the number of whole predictions of a cell."""
        return self.places[owner].lines.predictions if owner in self.places else 0

    def read(self, owner: Owner, read: Callable[[Mapping[str, Any], Sequence[Messages]], T]) -> Iterator[T]:
        """Yield what a function makes of each prediction of a cell, and of the common beginnings of its prompts."""
        place = self.places[owner]
        with self._opened() as stream:
            stream.seek(place.lines.start)
            lines = islice(stream, place.lines.predictions)
            for number, line in enumerate(lines, start=place.lines.number + 1):
                yield self._parsed(number, line, PREDICTION, lambda data: read(data, place.shared))

    def predictions(self, owner: Owner) -> tuple[Prediction, ...]:
        """Return the predictions of a cell."""
        return tuple(self.read(owner, lambda line, _: prediction_from(line)))

    def _parsed(self, number: int, line: bytes, shape: object, read: Callable[[Mapping[str, Any]], T]) -> T:
        try:
            data = parse_json(line)
            if fault := misfit(data, shape):
                raise ValueError(fault)  # noqa: TRY301 - one sentence for all faults of a line
            return read(data)
        except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RuntimeError, DataError) as error:
            msg = (
                f"{self.who}{self.path}: line {number} cannot be read ({type(error).__name__}: {one_line(error)}); "
                "expected a line that pytest-puma wrote"
            )
            raise DataError(msg) from error

    def _opened(self) -> Any:
        try:
            return regular(self.path).open("rb")
        except FileNotFoundError as error:
            msg = f"{self.who}{self.path}: no such file; expected it beside {RECORD}: load the run folder; {REMOVED}"
            raise DataError(msg) from error
        except OSError as error:
            fault = f"{self.who}{self.path}: cannot be read ({error.strerror})"
            msg = f"{fault}; expected it beside {RECORD}: load the run folder"
            raise DataError(msg) from error


def _placed(lines: CellLines, data: Mapping[str, Any]) -> tuple[Owner, Place]:
    shared = tuple(messages_from(messages) for messages in data["prompts"] or ())
    return owner_of(data), Place(lines, data["predictions"], shared)
