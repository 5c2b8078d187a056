"""A finished run as pandas frames, loaded from `run.json` and `predictions.jsonl` of its run folder.

run = load_run()                        # the newest run of the project in the current folder
wrong = run.predictions.query("answer != gold")
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_puma.codec.plain import plain
from pytest_puma.core import DataError, Messages, Prediction, Usage, Verdict
from pytest_puma.core.cell_id import COLUMNS
from pytest_puma.core.shared import whole_prompts
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.past_run import PastRun
from pytest_puma.runs.prediction_file import owner_of
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, newest_run

if TYPE_CHECKING:
    import pandas as pd

#: The beginning of messages.
_WHO = "load_run: "
_MEASURE = ("metric", "value", "low", "high", "n", "note")
_NUMBERS = ("value", "low", "high")


@dataclass(frozen=True)
class LoadedRun:
    """A run: `predictions`, `measures` and `verdicts` are pandas frames, made on first use."""

    past: PastRun = field(repr=False)

    @property
    def path(self) -> Path:
        """The path of the JSON record."""
        return self.past.path

    @property
    def record(self) -> Mapping[str, Any]:
        """The content of the JSON record."""
        return self.past.record

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row for each prediction of the recorded cells (for a repeated test, of its last attempt).

        `prompt` and `raw` are the last request and its reply; `messages` and `replies` are those of all requests.
        Each field, group, score and probability has a column: `fields.title`, `groups.subject`, `scores.accuracy`,
        `probabilities.Critical`. A cell that was cut off is left out, with a `UserWarning`. A `DataError` names the
        invalid line of a file that was not written by pytest-puma. Without `puma_keep_prompts`, there are no prompts
        and no fields.
        """
        return _frame(list(self.rows()), PREDICTION_COLUMNS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of `predictions` one by one, each with the columns that it has.

        A cell that is not whole is left out, with a warning.
        """
        outcomes, file = self.past.run.outcomes, self.past.file
        if not outcomes:  # each cell ended in an error: no file was written
            return
        by_owner = {owner_of(outcome): outcome for outcome in outcomes}
        lacking = {owner: text for owner, outcome in by_owner.items() if (text := file.lacking(outcome))}
        # In the order of the file, as workers finish in any order.
        for cell in file.cells:
            if cell.owner in by_owner.keys() - lacking.keys() and file.by_owner[cell.owner] is cell:
                outcome = by_owner[cell.owner]
                names = outcome.name.columns() | _fields(outcome.execution, ("node_id", "attempt"))
                for row in file.read(cell, partial(_row, shared=cell.shared)):
                    yield names | row
        for text in lacking.values():
            msg = f"{_WHO}{text}; the cell is left out: was the run cut off, or the disk full?"
            warnings.warn(msg, UserWarning, stacklevel=2)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """One row for each metric of each cell, with `value`, 95 % interval (`low`, `high`), `n` and `note`."""
        outcomes = self.past.run.outcomes
        rows = [
            outcome.name.columns() | _fields(measure, _MEASURE)
            for outcome in outcomes
            for measure in outcome.measures.values()
        ]
        return _frame(rows, (*COLUMNS, *_MEASURE), numbers=_NUMBERS)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row for each gate of each cell, and of the run, where `cell` is missing."""
        run = self.past.run
        of_cells = [
            outcome.name.columns() | _verdict(verdict)
            for outcome in run.outcomes
            for verdict in outcome.judgement.verdicts
        ]
        of_run = [dict.fromkeys(COLUMNS) | _verdict(verdict) for verdict in run.verdicts]
        return _frame([*of_cells, *of_run], (*COLUMNS, *_VERDICT), numbers=_NUMBERS)


#: The columns of every frame of predictions.
PREDICTION_COLUMNS = (
    *(*COLUMNS, "node_id", "attempt", "sample_id", "trial", "gold", "answer", "failure", "parsed", "prompt", "raw"),
    *("finish", "messages", "replies", "logprobs", "likelihoods", "unconditional"),
    *("references", "choices", "order", "reply", "units"),
)
_VERDICT = ("gate", "status", "fails", "reason", "value", "low", "high")


def load_run(path: str | os.PathLike[str] = ".") -> LoadedRun:
    """Load a run from its folder, from its `run.json`, or the newest run of a project (the folder with `.puma`).

    A `DataError` reports a missing run, a truncated file, or a file of another program or format.
    """
    record = _record_of(Path(path))
    past = PastRun(record.parent, record_name=record.name, who=_WHO)
    _ = past.run
    return LoadedRun(past)


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


def _row(prediction: Prediction, shared: Sequence[Messages]) -> dict[str, Any]:
    transcript = prediction.transcript
    messages = whole_prompts(shared, transcript.prompts)
    parts = {name: getattr(prediction, name) for name in ("probabilities", "fields", "groups", "scores")}
    parts["usage"] = {name: getattr(transcript.usage, name) for name in Usage.__slots__}
    flat = {f"{name}.{key}": value for name, part in parts.items() for key, value in (part or {}).items()}
    texts = {
        "prompt": _chat_text(messages[-1]) if messages else None,
        "raw": transcript.raw[-1] if transcript.raw else "",
        "messages": [[{"role": message.role, "content": message.content} for message in prompt] for prompt in messages],
        "replies": list(transcript.raw),
        "finish": transcript.finish,
        "logprobs": list(transcript.logprobs),
    }
    kept = {name: plain(getattr(prediction, name)) for name in PREDICTION_COLUMNS if hasattr(prediction, name)}
    return kept | texts | flat


def _chat_text(messages: Messages) -> str:
    """Return a chat as one text, each message under its role."""
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return a row with the numbers of the change if there is one, else of the measure."""
    numbers = verdict.change or verdict.measure
    found = dict.fromkeys(_NUMBERS) if numbers is None else _fields(numbers, _NUMBERS)
    return {"gate": str(verdict.gate)} | _fields(verdict, ("status", "fails", "reason")) | found


def _fields(noun: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(noun, name) for name in names}


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Return a frame with the named columns first, in this order, then all others."""
    import pandas as pd

    others = dict.fromkeys(name for row in rows for name in row if name not in columns)
    frame = pd.DataFrame(list(rows), columns=[*columns, *others])
    return frame.astype(dict.fromkeys(numbers, "float64"))
