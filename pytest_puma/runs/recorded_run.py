"""A run whose conversations can be held again without a model: its names, and its answers to requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import storable
from pytest_puma.codec.shapes import RESCORED_SIGNATURE
from pytest_puma.core import (
    DataError,
    Divergence,
    Key,
    Messages,
    Origin,
    Prediction,
    Provenance,
    Request,
    Response,
    Score,
    Turn,
)
from pytest_puma.core.shared import common_prefix, messages_with_prefill, whole_prompts
from pytest_puma.phrases import counted
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.platform.shape import misfit
from pytest_puma.platform.user_path import user_path
from pytest_puma.responses.answer_file import UNMEASURED
from pytest_puma.runs.prediction_file import PredictionFile, StoredCell
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, REMOVED, oldest_first

#: The argument that means the newest run.
_LAST = "last"
_MAX_NAMED = 3
#: Characters that a message shows of two prompts before and after the place where they part.
_BEFORE, _AFTER = 12, 32
_AGAIN = "run the benchmark again without --puma-rescore"


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

    def divergences(self, cell: StoredCell) -> dict[Key, tuple[Divergence, ...]]:
        """Return how far each trial of the cell of a variant is from the plain model; empty if that was not asked."""
        return dict(self._file.read(cell, lambda prediction: (prediction.key, prediction.divergence)))

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


class RunSource:
    """The answers of a run.

    A request gets the response to the same prompt and continuations in the same trial; of several equal requests, the
    first gets the first response. A `DataError` names a sample whose request the run does not have.
    """

    def __init__(self, run: RecordedRun) -> None:
        self._run = run

    def find(self, requests: Sequence[Request], origins: Sequence[Origin]) -> list[Response]:
        """Return the response to each request; all samples without one are in the same error."""
        turns = [self._take(request, origin) for request, origin in zip(requests, origins, strict=True)]
        pairs = zip(turns, requests, origins, strict=True)
        unanswered = {origin.name: (request, origin) for turn, request, origin in reversed([*pairs]) if turn is None}
        if unanswered:
            others = f" ({len(unanswered) - 1} more have no answer either)" if len(unanswered) > 1 else ""
            fault = self._fault(*list(unanswered.values())[-1])
            msg = f"--puma-rescore {self._run.name}: {fault}{others}"
            raise DataError(msg)
        return [turn.response for turn in turns if turn is not None]

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Read the responses of a cell; a `DataError` if the run does not have it."""
        if cell not in self._run.cells:
            msg = f"--puma-rescore {self._run.name}: the run has no cell {cell}; {_AGAIN}"
            raise DataError(msg)
        self._signature, self._recorded = signature, self._run.cells[cell]
        self._turns = self._run.conversations(self._recorded)

    def provenance(self) -> Provenance:
        """Return the signature of today, with the engine and the way of decoding of the run; nothing was timed."""
        recorded = self._recorded.signature
        why = f"is that of the run {self._run.name}: nothing is timed when its answers are read"
        return Provenance(
            signature={**self._signature, "generation": recorded["generation"], "engine": recorded["engine"]},
            unmeasured={"clock": why, **(UNMEASURED if "answers" in recorded["engine"] else {})},
        )

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take(self, request: Request, origin: Origin) -> Turn | None:
        """The turn that answers a request, which answers no other one; None if there is none."""
        turns = self._turns.get(_key(origin), [])
        asked = _messages(request), _continuations(request)
        index = next((index for index, turn in enumerate(turns) if (turn.prompt, turn.continuations) == asked), None)
        return None if index is None else turns.pop(index)

    def _fault(self, request: Request, origin: Origin) -> str:
        """The reason why a request has no response, and what to do."""
        what = f"{origin.name} of {origin.cell}"
        turns = self._turns.get(_key(origin))
        if turns is None:
            return f"{what} is not in the run, which has {self._size(origin.cell)}"
        if not turns:
            return f"{what} makes more requests than in the run ({origin.index} there); {_AGAIN}"
        turn = turns[0]
        if turn.prompt != _messages(request):
            old, new = _parts(_text(turn.prompt or ()), _text(_messages(request)))
            return f"the prompt of {what} has changed from {old} to {new}; {_AGAIN}"
        now, then = _kind(_continuations(request)), _kind(turn.continuations)
        return f"{what} is asked for {now}, in the run for {then}; {_AGAIN}"

    def _size(self, cell: str) -> str:
        """The trials of the run, and how to ask no more than these."""
        data = self._run.cells[cell].signature["data"]
        file = f" from the file {data['file']}" if data else ""
        answers = counted(len(self._turns), "answer")
        return (
            f"{answers} of this cell{file}; repeat the options of that run, such as --puma-data or "
            f"--puma-stop-early, or {_AGAIN}"
        )


def _key(origin: Origin) -> Key:
    return storable(origin.sample.id), origin.trial.index


def _messages(request: Request) -> Messages:
    """The messages as a file has them."""
    messages = messages_with_prefill(request.prompt)
    return tuple(replace(message, content=storable(message.content)) for message in messages)


def _continuations(request: Request) -> tuple[str, ...]:
    return tuple(map(storable, request.continuations)) if isinstance(request, Score) else ()


def _kind(continuations: Iterable[str]) -> str:
    texts = ", ".join(repr(text.strip()) for text in continuations)
    return f"the probabilities of {texts}" if texts else "a text"


def _text(messages: Messages) -> str:
    return "\n".join(message.content for message in messages)


def _parts(old: str, new: str) -> tuple[str, str]:
    """Both texts around the place where they part."""
    start = max(0, common_prefix(old, new) - _BEFORE)
    shown = (text[start : start + _BEFORE + _AFTER] for text in (old, new))
    then, now = (f"{'...' if start else ''}{text}" for text in shown)
    return repr(then), repr(now)
