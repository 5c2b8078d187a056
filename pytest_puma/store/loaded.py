"""A finished run as pandas frames, loaded from `run.json` and `predictions.jsonl` of its run folder.

run = load_run()                        # the newest run of the project in the current folder
wrong = run.predictions.query("answer != gold")
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_puma.core import DataError, Gate, Messages
from pytest_puma.core.errors import one_line
from pytest_puma.core.json_text import parse_json
from pytest_puma.core.shape import misfit
from pytest_puma.core.shared import whole_prompts
from pytest_puma.store.cell_lines import cells_of
from pytest_puma.store.project_folder import runs_of
from pytest_puma.store.record import FORMAT
from pytest_puma.store.run_folder import PREDICTIONS, RECORD, REMOVED, newest_run
from pytest_puma.store.serialize import messages_from

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
_NAMES = ("cell", "scenario", "strategy", "perturbation", "model")
_MEASURE = ("metric", "value", "low", "high", "n", "note")
_NUMBERS = ("value", "low", "high")
_NUMBER = (None, float)
_MEASURED = {"value": _NUMBER, "low": _NUMBER, "high": _NUMBER}
_GATE = {
    "metric": str,
    "op": str,
    "limit": float,
    "scope": (None, str),
    "other": (None, str),
    "quotient": bool,
    "doubt": (None, str),
    "strategy": (None, str),
    "pick": (None, str),
    "axis": (None, str),
}
_JUDGED = {
    "gate": _GATE,
    "status": str,
    "fails": bool,
    "reason": str,
    "change": (None, _MEASURED),
    "measure": (None, _MEASURED),
}
#: What the frames show of a record.
_RECORD = {
    "outcomes": [
        {
            **dict.fromkeys(("cell", "scenario", "strategy", "model", "node_id"), str),
            "perturbation": (None, str),
            "attempt": int,
            "trials": int,
            "measures": {str: {"metric": str, "n": int, "note": str} | _MEASURED},
            "verdicts": [_JUDGED],
        }
    ],
    "verdicts": [_JUDGED],
}
#: The fields that assign a line to one attempt of one test of a cell.
_OWNER = ("cell", "node_id", "attempt")


@dataclass(frozen=True, kw_only=True)
class LoadedRun:
    """A run: `predictions`, `measures` and `verdicts` are pandas frames, made on first use.

    `path`: the path of the JSON record; `record`: its content.
    """

    path: Path
    record: Mapping[str, Any] = field(repr=False)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row for each prediction of the recorded cells (for a repeated test, of its last attempt).

        `prompt` and `raw` are the last request and its reply; `messages` and `replies` are those of all requests.
        Each field, group, score and probability has a column: `fields.title`, `groups.subject`, `scores.accuracy`,
        `probabilities.Critical`. A cell that was cut off is left out, with a `UserWarning`. A `DataError` names the
        invalid line of a file that was not written by pytest-puma. Without `puma_keep_prompts`, there are no prompts
        and no fields.
        """
        return _frame(list(_rows(self.path.with_name(PREDICTIONS), self.record["outcomes"])), _PREDICTION)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """One row for each metric of each cell, with `value`, 95 % interval (`low`, `high`), `n` and `note`."""
        rows = [
            _names(outcome) | {name: measure[name] for name in _MEASURE}
            for outcome in self.record["outcomes"]
            for measure in outcome["measures"].values()
        ]
        return _frame(rows, (*_NAMES, *_MEASURE), numbers=_NUMBERS)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row for each gate of each cell, and of the run, where `cell` is missing."""
        of_cells = [
            _names(outcome) | _verdict(verdict)
            for outcome in self.record["outcomes"]
            for verdict in outcome["verdicts"]
        ]
        of_run = [dict.fromkeys(_NAMES) | _verdict(verdict) for verdict in self.record["verdicts"]]
        return _frame([*of_cells, *of_run], (*_NAMES, *_VERDICT), numbers=_NUMBERS)


_PREDICTION = (
    *_NAMES,
    "node_id",
    "attempt",
    "sample_id",
    "trial",
    "gold",
    "answer",
    "failure",
    "parsed",
    "prompt",
    "raw",
    "finish",
    "messages",
    "replies",
    "logprobs",
    "likelihoods",
    "unconditional",
    "references",
    "choices",
    "order",
    "reply",
    "units",
)
_VERDICT = ("gate", "status", "fails", "reason", "value", "low", "high")


def load_run(path: str | os.PathLike[str] = ".") -> LoadedRun:
    """Load a run from its folder, from its `run.json`, or the newest run of a project (the folder with `.puma`).

    A `DataError` reports a missing run, a truncated file, or a file of another program or format.
    """
    record = _record_of(Path(path))
    try:
        data = parse_json(record.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"load_run: {record}: cannot be read ({error.strerror}); expected the {RECORD} that a finished run wrote"
        raise DataError(msg) from error
    except ValueError as error:
        msg = f"load_run: {record}: not JSON ({error}); expected the {RECORD} of a run: is the file truncated?"
        raise DataError(msg) from error
    if not isinstance(data, dict) or not {"format", "outcomes", "verdicts"} <= data.keys():
        msg = f"load_run: {record}: not the record of a run; expected the {RECORD} that pytest-puma wrote"
        raise DataError(msg)
    if data["format"] != FORMAT:
        msg = (
            f"load_run: {record}: format {data['format']!r}; expected {FORMAT}: load it with the version that wrote it"
        )
        raise DataError(msg)
    if fault := misfit(data, _RECORD):
        msg = f"load_run: {record}: {fault}; expected the {RECORD} that pytest-puma wrote"
        raise DataError(msg)
    return LoadedRun(path=record, record=data)


def _record_of(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        msg = f"load_run: {path}: no such file or folder; expected a run folder, its {RECORD} or a project"
        raise DataError(msg)
    if (path / RECORD).exists() or (path / PREDICTIONS).exists():
        return path / RECORD
    for runs in (runs_of(path), path / "runs", path):
        if (newest := newest_run(runs)) is not None:
            return newest
    msg = f"load_run: {path}: no finished run in it; expected a run folder, its {RECORD} or the folder with .puma"
    raise DataError(msg)


def _rows(path: Path, outcomes: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the predictions of these outcomes as rows; a cell that is not whole is left out, with a warning."""
    if not outcomes:  # each cell ended in an error: no file was written
        return
    missing = {_owner(outcome): outcome for outcome in outcomes}
    counts: Counter[tuple[Any, ...]] = Counter()
    with _opened(path) as stream:
        for cell in [each for each in cells_of(stream, where=f"load_run: {path}") if each.first_is_whole]:
            owner, shared = _parsed(path, cell.number, cell.first, _head)
            counts[owner] = cell.predictions
            if owner in missing and cell.predictions >= missing[owner]["trials"]:
                names = _names(missing.pop(owner))
                stream.seek(cell.start)
                for number, line in enumerate(islice(stream, cell.predictions), start=cell.number + 1):
                    yield names | _parsed(path, number, line, partial(_row, shared=shared))
    for owner, outcome in missing.items():
        msg = (
            f"load_run: {path}: {counts[owner]} of the {outcome['trials']} predictions of {outcome['cell']} are there; "
            "the cell is left out: was the run cut off, or the disk full?"
        )
        warnings.warn(msg, UserWarning, stacklevel=2)


def _parsed(path: Path, number: int, line: bytes, read: Callable[[Mapping[str, Any]], T]) -> T:
    """What a function reads of a line."""
    try:
        return read(parse_json(line))
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RuntimeError) as error:
        msg = (
            f"load_run: {path}: line {number} cannot be read ({type(error).__name__}: {one_line(error)}); "
            "expected a line that pytest-puma wrote"
        )
        raise DataError(msg) from error


def _head(data: Mapping[str, Any]) -> tuple[tuple[Any, ...], list[Messages]]:
    """The owner of a cell's lines, and its shared prompts."""
    return _owner(data), [messages_from(messages) for messages in data["prompts"] or ()]


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        msg = f"load_run: {path}: no such file; expected it beside {RECORD}: load the run folder; {REMOVED}"
        raise DataError(msg) from error
    except OSError as error:
        msg = f"load_run: {path}: cannot be read ({error.strerror}); expected it beside {RECORD}: load the run folder"
        raise DataError(msg) from error


def _row(data: Mapping[str, Any], shared: Sequence[Messages]) -> dict[str, Any]:
    messages = whole_prompts(shared, (rest and messages_from(rest) for rest in data["prompts"]))
    flat = {
        f"{name}.{key}": value
        for name in ("probabilities", "fields", "groups", "scores", "usage")
        for key, value in (data[name] or {}).items()
    }
    kept = {name: data[name] for name in _PREDICTION if name in data}
    texts = {
        "prompt": _chat_text(messages[-1]) if messages else None,
        "raw": data["raw"][-1] if data["raw"] else "",
        "messages": [[{"role": each.role, "content": each.content} for each in prompt] for prompt in messages],
        "replies": data["raw"],
    }
    return kept | texts | flat


def _chat_text(messages: Messages) -> str:
    """Return a chat as one text, each message under its role."""
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the numbers of the change if there is one, else of the measure."""
    numbers = verdict["change"] or verdict["measure"] or {}
    fields = {name: verdict[name] for name in ("status", "fails", "reason")}
    return {"gate": str(Gate(**verdict["gate"]))} | fields | {name: numbers.get(name) for name in _NUMBERS}


def _names(outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {name: outcome[name] for name in _NAMES}


def _owner(data: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(data[name] for name in _OWNER)


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Return a frame with the named columns first, in this order, then all others."""
    import pandas as pd

    others = dict.fromkeys(name for row in rows for name in row if name not in columns)
    frame = pd.DataFrame(list(rows), columns=[*columns, *others])
    return frame.astype(dict.fromkeys(numbers, "float64"))
