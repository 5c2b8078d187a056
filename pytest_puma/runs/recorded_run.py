"""An earlier run as a source of responses: the conversations in `predictions.jsonl` of its run folder.

The file alone is enough: it also has the cells of a run that was interrupted, and those whose metrics raised. A cell
that was cut off is left out, so that half a cell never counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_puma.codec import responses
from pytest_puma.codec.deserialize import messages_from
from pytest_puma.codec.shapes import PREDICTION, RECORDED_CELL
from pytest_puma.core import CellId, DataError, Key, Messages, Response
from pytest_puma.core.shared import whole_prompts
from pytest_puma.errors import one_line
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.regular_file import regular
from pytest_puma.platform.shape import misfit
from pytest_puma.platform.user_path import user_path
from pytest_puma.runs.cell_lines import CellLines, cells_of
from pytest_puma.runs.run_folder import PREDICTIONS, RECORD, REMOVED
from pytest_puma.runs.run_order import oldest_first

#: The argument that means the newest run.
LAST = "last"
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """A request of a recorded conversation, by its messages and scored continuations, and the response to it."""

    messages: Messages
    continuations: tuple[str, ...]
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCell:
    """A cell of a run: its names, its signature, the common beginnings of its prompts, and its place in the file.

    `test`: the id of the test function that requested it. `start`, `line`: the byte and the line before its first
    prediction; `predictions`: the number of these.
    """

    name: CellId
    test: str
    signature: Mapping[str, Any]
    shared: tuple[Messages, ...]
    start: int
    line: int
    predictions: int


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
        cells = {str(cell.name): cell for cell in self._places if isinstance(cell, RecordedCell)}
        if not cells:
            problem = "; ".join(("no whole cell in it", *self.cut_off)) if self.cut_off else "no cell in it"
            msg = f"{self.path}: {problem}; expected the predictions of a run: run again"
            raise DataError(msg)
        return cells

    @property
    def cut_off(self) -> tuple[str, ...]:
        """A sentence for each cell that is left out, as the end of the run or a full disk has cut it off."""
        return tuple(sentence for sentence in self._places if isinstance(sentence, str))

    def conversations(self, cell: RecordedCell) -> dict[Key, list[RecordedTurn]]:
        """Return the conversation about each trial of a cell."""
        with self._opened() as stream:
            stream.seek(cell.start)
            lines = enumerate(islice(stream, cell.predictions), start=cell.line + 1)
            return dict(self._conversation(cell, number, line) for number, line in lines)

    @cached_property
    def _places(self) -> list[RecordedCell | str]:
        """Each cell in order, or the sentence on its end."""
        with self._opened() as stream:
            return [place for lines in cells_of(stream, where=str(self.path)) for place in self._place(lines)]

    def _place(self, lines: CellLines) -> Iterator[RecordedCell | str]:
        if not lines.first_is_whole:
            yield _cut_off(lines.number)
            return
        data = self._loaded(lines.first, lines.number, RECORDED_CELL)
        try:
            expected = data.get("predictions", lines.predictions + lines.cut)
            if lines.predictions < expected:
                count = f"{lines.predictions} of its {expected} predictions"
                yield f"{data['cell']} is cut off after {count} in {PREDICTIONS}; the cell is left out"
            else:
                yield self._cell(data, lines)
                if lines.cut:
                    yield _cut_off(lines.number + lines.predictions + 1)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._fault(lines.number, error) from error

    def _cell(self, data: Mapping[str, Any], lines: CellLines) -> RecordedCell:
        if data["prompts"] is None:
            msg = (
                f"{self.path}: the run kept no prompts (ini key puma_keep_prompts), so answers cannot be matched; "
                "set it to true and run again"
            )
            raise DataError(msg)
        return RecordedCell(
            name=CellId.parse(data["cell"]),
            test=data["node_id"].partition("[")[0],
            signature=data["signature"],
            shared=tuple(messages_from(messages) for messages in data["prompts"]),
            start=lines.start,
            line=lines.number,
            predictions=lines.predictions,
        )

    def _conversation(self, cell: RecordedCell, number: int, line: bytes) -> tuple[Key, list[RecordedTurn]]:
        data = self._loaded(line, number, PREDICTION)
        try:
            prompts = whole_prompts(cell.shared, (rest and messages_from(rest) for rest in data["prompts"]))
            turns = [
                RecordedTurn(messages=messages, continuations=continuations, response=response)
                for messages, response, continuations in zip(prompts, *responses.unpacked(data), strict=True)
            ]
            return (data["sample_id"], data["trial"]), turns
        except (KeyError, TypeError, ValueError, IndexError, StopIteration, RuntimeError) as error:
            raise self._fault(number, error) from error
        except DataError as error:
            msg = f"{self.path}: line {number}: sample {data['sample_id']!r} {error}"
            raise DataError(msg) from error

    def _loaded(self, line: bytes, number: int, shape: object) -> dict[str, Any]:
        try:
            data: dict[str, Any] = parse_json(line)
        except ValueError as error:
            raise self._fault(number, error) from error
        if fault := misfit(data, shape):
            raise self._fault(number, ValueError(fault))
        return data

    def _fault(self, number: int, error: Exception) -> DataError:
        return DataError(
            f"{self.path}: line {number} cannot be read ({type(error).__name__}: {one_line(error)}); "
            "expected a line that pytest-puma wrote: is the file truncated?"
        )

    def _opened(self) -> Any:
        try:
            return regular(self.path).open("rb")
        except OSError as error:
            msg = f"{self.path}: cannot be read ({error.strerror})"
            raise DataError(msg) from error


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


def _cut_off(line: int) -> str:
    return f"line {line} of {PREDICTIONS}, the first one of a cell, is cut off; the cell is left out"
