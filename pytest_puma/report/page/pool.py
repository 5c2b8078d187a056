"""The texts of prompts, each once: what all prompts of a cell share, and the pieces that belong to single samples.

start    user "Which team? "                   of all prompts of a cell, from the run folder
piece    "No invoice came."                    of a sample: the cells of a scenario mostly share it
end      " Answer with one word."              of all prompts of the cell
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pytest_puma.core import Messages, Prediction
from pytest_puma.core.prefix import common_end

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
        """Return the entries of each prompt; None for a prompt that repeats the one before."""
        turns = iter(range(len(self.ends)))
        return [None if rest is None else self._entries(rest, next(turns)) for rest in prediction.transcript.prompts]

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
