"""Parts that the cells of a scenario share: the task, the rows of samples, and the texts of prompts, each once.

start    user "Which team? "                   of all prompts of a cell, from the run folder
piece    "No invoice came."                    of a sample: the cells of a scenario mostly share it
end      " Answer with one word."              of all prompts of the cell
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from pytest_puma.core import Key, Messages, Prediction, TaskInfo
from pytest_puma.core.shared import common_end
from pytest_puma.phrases import one_line
from pytest_puma.report.page.encoding import numbered

#: Characters of a sample in a table.
_BEGINNING = 120


class ScenarioBlocks:
    """The rows of a scenario, which grow with each cell, and the pieces of its prompts.

    `texts`: whether the page shows texts. `cells`: the numbers of its cells in the run. `pieces`: the number of each
    text, in the order of their first use.
    """

    def __init__(self, task: TaskInfo, *, texts: bool) -> None:
        self.task, self.texts = task, texts
        self.cells: list[int] = []
        self.pieces: dict[str, int] = {}
        self._rows: dict[Key, int] = {}
        self._gold: list[str] = []
        self._references: list[Sequence[str]] = []
        self._choices: list[Sequence[str]] = []
        self._groups: list[Mapping[str, str]] = []
        self._beginnings: list[str] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, predictions: Sequence[Prediction], beginnings: Iterable[str]) -> list[int]:
        """Return the row of each prediction of a cell; `beginnings`: of their samples, for the rows that are new."""
        for prediction, beginning in zip(predictions, beginnings, strict=True):
            if numbered(self._rows, prediction.key) == len(self._gold):
                self._gold.append(prediction.gold)
                self._references.append(prediction.references)
                self._choices.append(prediction.choices)
                self._groups.append(prediction.groups)
                self._beginnings.append(beginning)
        return [self._rows[prediction.key] for prediction in predictions]

    def row(self, key: Key) -> int | None:
        """Return the row of a sample and trial, None if no cell has it."""
        return self._rows.get(key)

    @property
    def shows_answers(self) -> bool:
        """Whether the page shows answers and ground truths."""
        return self.texts or self.task.kind.form != "texts"

    def block(self) -> dict[str, Any]:
        """Return the block `r`; a list is null if no row has a value in it."""
        trials = [trial for _, trial in self._rows]
        return {
            "ids": [sample_id for sample_id, _ in self._rows],
            "trials": trials if any(trials) else None,
            "gold": self._gold if self.shows_answers else [""] * len(self),
            "references": self._references if self.shows_answers and any(self._references) else None,
            "choices": self._choices if self.texts and any(self._choices) else None,
            "groups": self._groups if any(self._groups) else None,
            "texts": self._beginnings if any(self._beginnings) else None,
        }


#: A message of a prompt: its role, None if it continues the last message of the start, and the number of its piece.
Entry: TypeAlias = tuple[str | None, int]


class CellPrompts:
    """The prompts of a cell: the common start and end of each turn, and the entries of each prediction.

    `pieces`: those of the scenario. A prompt that repeats the one before is no turn of its own.
    """

    def __init__(self, starts: Sequence[Messages], predictions: Iterable[Prediction], pieces: dict[str, int]) -> None:
        self.starts, self._pieces = starts, pieces
        last_texts = (
            [rest[-1].content for rest in prediction.transcript.prompts if rest is not None]
            for prediction in predictions
        )
        by_turn = ([text for text in texts if text is not None] for texts in zip_longest(*last_texts))
        self.ends = tuple(map(common_end, by_turn))

    def entries(self, prediction: Prediction) -> list[list[Entry] | None]:
        """Return the entries of each prompt, None for one that repeats the one before; none if no prompts were kept."""
        turns = iter(range(len(self.ends)))
        prompts = prediction.transcript.prompts if self.ends else ()
        return [None if rest is None else self._entries(rest, next(turns)) for rest in prompts]

    def beginning(self, prediction: Prediction) -> str:
        """Return the beginning of the sample: of the last message of the first prompt with a text of its own.

        The last message of all may be the beginning of the reply, which all prompts share.
        """
        rest = next(filter(None, prediction.transcript.prompts), ()) if self.ends else ()
        texts = [message.content for message in rest]
        texts[-1:] = [text.removesuffix(self.ends[0]) for text in texts[-1:]]
        return one_line(next(filter(str.strip, reversed(texts)), ""), _BEGINNING)

    def _entries(self, rest: Messages, turn: int) -> list[Entry]:
        continues = turn < len(self.starts) and bool(self.starts[turn])
        texts = [message.content for message in rest]
        texts[-1] = texts[-1][: len(texts[-1]) - len(self.ends[turn])]
        roles = [None if continues and not index else message.role for index, message in enumerate(rest)]
        return [(role, numbered(self._pieces, text)) for role, text in zip(roles, texts, strict=True)]
