"""The verdicts that a judge may give, as it writes them in each language, and their values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_puma.errors import SettingsError

#: The language of words that have no translation.
ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class VerdictScale:
    """`words`: the possible verdicts by language, at least in English; `values`: the value of each."""

    words: Mapping[str, tuple[str, ...]]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse verdicts that a judge could not tell apart."""
        for words in self.words.values():
            if len(words) != len(self.values) or len(set(words)) != len(words) or len(words) < 2 or not all(words):  # noqa: PLR2004 - one verdict is none
                msg = f"a scale has the verdicts {words!r} and the values {self.values!r}; expected as many, each once"
                raise SettingsError(msg)

    def shown(self, language: str) -> tuple[str, ...]:
        """Return the verdicts in a language, else in English."""
        return self.words.get(language) or self.words[ENGLISH]

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return min(self.values), max(self.values)

    def value(self, logprobs: Sequence[float], *, expected: bool = False) -> float | None:
        """Return the value of the most probable verdict, or the mean of all by probability; None for no verdict."""
        if len(logprobs) != len(self.values) or max(logprobs) == -math.inf:
            return None
        if not expected:
            return self.values[max(range(len(logprobs)), key=logprobs.__getitem__)]
        weights = [math.exp(logprob - max(logprobs)) for logprob in logprobs]
        return sum(weight * value for weight, value in zip(weights, self.values, strict=True)) / sum(weights)


def grades(low: int, high: int, *, share: bool = False) -> VerdictScale:
    """Return the scale of whole numbers; `share`: their values are 0 to 1."""
    numbers = range(low, high + 1)
    values = tuple((number - low) / (high - low) if share else float(number) for number in numbers)
    return VerdictScale({ENGLISH: tuple(map(str, numbers))}, values)


YES_NO = VerdictScale(
    {ENGLISH: ("yes", "no"), "de": ("ja", "nein"), "fr": ("oui", "non"), "fi": ("kyllä", "ei")},
    (1.0, 0.0),
)
#: Of two replies: the first, the second, neither is better.
PAIR = VerdictScale({ENGLISH: ("A", "B", "C")}, (1.0, 0.0, 0.5))
