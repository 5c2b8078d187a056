"""What the cells of a scenario share: the task, the rows of samples, and the texts of prompts, each once.

start    user "Which team? "                   of all prompts of a cell, from the run folder
piece    "No invoice came."                    of a sample: the cells of a scenario mostly share it
end      " Answer with one word."              of all prompts of the cell
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pytest_puma.core import Key, Messages, Outcome, Prediction, TaskInfo
from pytest_puma.core.prefix import common_end


def task_of(outcome: Outcome) -> TaskInfo:
    """Return the task of a cell; in a record of an older version, as the numbers show it."""
    if outcome.task is not None:
        return outcome.task
    kind = "completion"
    if outcome.confusion:
        kind = "classification"
    elif "mae" in outcome.measures:
        kind = "regression"
    elif "accuracy" in outcome.measures:
        kind = "choice"
    return TaskInfo(
        type=kind,
        labels=tuple(outcome.confusion),
        ordered="within_one" in outcome.measures,
        primary=outcome.primary,
        better=outcome.measures[outcome.primary].better if outcome.primary else "neither",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    gold: str
    references: tuple[str, ...]
    choices: tuple[str, ...]
    groups: Mapping[str, str]


class Rows:
    """The rows, which grow with each cell."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._rows: list[_Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, predictions: Sequence[Prediction]) -> list[int]:
        """Return the row of each prediction of a cell."""
        for prediction in predictions:
            if prediction.key not in self._numbers:
                self._numbers[prediction.key] = len(self._rows)
                row = _Row(
                    gold=prediction.gold,
                    references=prediction.references,
                    choices=prediction.choices,
                    groups=prediction.groups,
                )
                self._rows.append(row)
        return [self._numbers[prediction.key] for prediction in predictions]

    def number(self, key: Key) -> int | None:
        """Return the row of a sample and trial, None if no cell has it."""
        return self._numbers.get(key)

    def block(self, *, texts: bool, answers: bool) -> dict[str, Any]:
        """Return the block `r`; a list is null if no row has a value in it.

        `texts`: whether to show choices; `answers`: whether to show the ground truths.
        """
        trials = [trial for _, trial in self._numbers]
        return {
            "ids": [sample_id for sample_id, _ in self._numbers],
            "trials": trials if any(trials) else None,
            "gold": [row.gold if answers else "" for row in self._rows],
            "references": _null_if_empty([list(row.references) if answers else [] for row in self._rows]),
            "choices": _null_if_empty([list(row.choices) if texts else [] for row in self._rows]),
            "groups": _null_if_empty([dict(row.groups) for row in self._rows]),
        }


def _null_if_empty(values: list[Any]) -> list[Any] | None:
    return values if any(values) else None


#: A message of a prompt: its role, None if it continues the last message of the start, and the number of its piece.
Entry: TypeAlias = tuple[str | None, int]


class Pool:
    """The pieces of the prompts of a scenario, numbered in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def pieces(self) -> list[str]:
        """The texts by number."""
        return list(self._numbers)

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))


class CellPrompts:
    """The prompts of a cell: the common start and end of each turn, and the entries of each prediction in a pool.

    A prompt that repeats the one before is no turn of its own.
    """

    def __init__(self, starts: Sequence[Messages], predictions: Iterable[Prediction], pool: Pool) -> None:
        self.starts, self._pool = starts, pool
        self.ends = tuple(common_end(texts) for texts in _last_texts(predictions))

    def entries(self, prediction: Prediction) -> list[list[Entry] | None]:
        """Return the entries of each prompt, None for one that repeats the one before; none if no prompts were kept."""
        turns = iter(range(len(self.ends)))
        prompts = prediction.transcript.prompts if self.ends else ()
        return [None if rest is None else self._entries(rest, next(turns)) for rest in prompts]

    def _entries(self, rest: Messages, turn: int) -> list[Entry]:
        continues = turn < len(self.starts) and bool(self.starts[turn])
        texts = [message.content for message in rest]
        texts[-1] = texts[-1][: len(texts[-1]) - len(self.ends[turn])]
        roles = [None if continues and not place else message.role for place, message in enumerate(rest)]
        return [(role, self._pool.number(text)) for role, text in zip(roles, texts, strict=True)]


def _last_texts(predictions: Iterable[Prediction]) -> list[list[str]]:
    """The last text of each prompt, by turn."""
    turns: list[list[str]] = []
    for prediction in predictions:
        rests: Iterator[Messages] = (rest for rest in prediction.transcript.prompts if rest is not None)
        for turn, rest in enumerate(rests):
            if turn == len(turns):
                turns.append([])
            turns[turn].append(rest[-1].content)
    return turns
