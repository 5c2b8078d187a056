"""A column of a user's file, as a candidate for the texts, the right answers or the names of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from pytest_puma.task_types import KINDS

#: Numbers of more different values than this are no labels; a scale of stars has five.
MAX_NUMERIC_LABELS = 5
MIN_LABELS, MAX_LABELS = 2, 100
#: Mean number of words from which a cell is a text, if its column has not the name of one.
TEXT_WORDS = 3
_TEXTS = (
    *("body", "comment", "content", "description", "input", "message", "question", "review", "sentence", "subject"),
    *("summary", "text", "title"),
)


class FileColumn:
    """A column of a file, as a candidate: its name and its cells, empty for a missing value."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name = name
        #: The name without case and signs.
        self.word = "".join(sign for sign in name.casefold() if sign.isalnum())
        #: The different values, the most frequent first.
        self.values = [value for value, _ in Counter(filter(None, cells)).most_common()]
        self.double = next((value for value, times in Counter(cells).items() if times > 1 and value), "")
        #: Whether each row has another value.
        self.differs = len(self.values) == len(cells)
        #: Whether the values can be labels: few, and each row has one of them.
        self.repeats = MIN_LABELS <= len(self.values) <= min(MAX_LABELS, len(cells) // 2)
        #: Values that are no numbers.
        self.words = [value for value in self.values if not KINDS["regression"].valid(value, ())]
        self.numeric = bool(self.values) and not self.words
        #: Whether the values are numbers, and too many for labels.
        self.measured = self.numeric and len(self.values) > MAX_NUMERIC_LABELS
        named, has_words = self.word in _TEXTS, fmean(len(cell.split()) for cell in cells) >= TEXT_WORDS
        self.is_text = named or has_words
        #: Whether the model can read the values: by the name, or by several words that seldom repeat.
        readable = named or (has_words and 2 * len(self.values) > len(cells))
        self.readable = readable and bool(self.values) and not self.numeric

    def __str__(self) -> str:
        """`team (3 values)`."""
        return f"{self.name} ({len(self.values)} values)"
