"""A column of a user's file: whether its values can be labels, numbers to predict, keys or texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its name and its cells, empty for a missing value."""

    name: str
    cells: tuple[str, ...]

    @property
    def word(self) -> str:
        """The name without case and signs."""
        return "".join(sign for sign in self.name.casefold() if sign.isalnum())

    @property
    def values(self) -> list[str]:
        """The different values, the most frequent first."""
        return [value for value, _ in Counter(filter(None, self.cells)).most_common()]

    @property
    def repeats(self) -> bool:
        """Whether the values can be labels: few, and each row has one of them."""
        return MIN_LABELS <= len(self.values) <= min(MAX_LABELS, len(self.cells) // 2)

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers."""
        return all(KINDS["regression"].valid(value, ()) for value in self.values) and bool(self.values)

    @property
    def measured(self) -> bool:
        """Whether the values are numbers, and too many for labels."""
        return self.numeric and len(self.values) > MAX_NUMERIC_LABELS

    @property
    def differs(self) -> bool:
        """Whether each row has another value."""
        return len(self.values) == len(self.cells)

    @property
    def words(self) -> float:
        """The mean number of words of a cell."""
        return fmean(len(cell.split()) for cell in self.cells)

    @property
    def has_text_name(self) -> bool:
        """Whether the name is a usual one of a text."""
        return self.word in _TEXTS

    @property
    def is_text(self) -> bool:
        """Whether the model can read the values: by the name, or by several words that seldom repeat."""
        if self.numeric or not self.values:
            return False
        return self.has_text_name or (self.words >= TEXT_WORDS and 2 * len(self.values) > len(self.cells))

    def __str__(self) -> str:
        """`team (3 values)`."""
        return f"{self.name} ({len(self.values)} values)"
