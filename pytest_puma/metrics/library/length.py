"""Metrics of the length of a reply: words, sentences, paragraphs, and of what it repeats.

context = {"words": {"at_least": 100, "less_than": 151}, "sentences": {"target": 3}}
context = {"length": {"unit": "words", "count": 200, "type": "target", "tolerance": 0.1}}
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library.arguments import argument, is_count, original
from pytest_puma.metrics.library.sentences import split_sentences

_TYPES = ("target", "minimum", "maximum")
#: The share of a target by which a length may be off, unless the context specifies another.
_TOLERANCE = 1 / 6
_LIST_NUMBER = re.compile(r"^[^\S\n]*\d+\.\s", re.MULTILINE)


def count_words(text: str) -> int:
    """Return the number of runs of letters, digits and underscores. An accent does not end a run."""
    return len(
        re.findall(
            r"\w+", "".join(character for character in text if not unicodedata.category(character).startswith("M"))
        )
    )


def count_sentences(text: str) -> int:
    """Return the number of sentences that have a letter or a digit; the number of a list item is none."""
    return sum(any(map(str.isalnum, each)) for each in split_sentences(_LIST_NUMBER.sub("", text)))


def count_paragraphs(text: str) -> int:
    """Return the number of paragraphs; blank lines stand between them."""
    return sum(bool(part.strip()) for part in re.split(r"\n\s*\n", text))


_UNITS: Mapping[str, Callable[[str], int]] = {
    "words": count_words,
    "sentences": count_sentences,
    "paragraphs": count_paragraphs,
}
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "at_least": lambda number, limit: number >= limit,
    "less_than": lambda number, limit: number < limit,
    "target": lambda number, limit: number == limit,
}


def _limits(unit: str) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function: 1 if the number of these units is within all limits of the context."""
    expected = f"a dictionary with whole numbers for any of {', '.join(_COMPARISONS)}, or None if it does not apply"

    def score(sample: Sample, prediction: Prediction) -> float | None:
        limits = argument(sample, unit, metric=unit, expected=expected, valid=_are_limits)
        if limits is None:
            return None
        number = _UNITS[unit](prediction.text)
        return float(all(_COMPARISONS[name](number, limit) for name, limit in limits.items()))

    return score


def _are_limits(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return value is None
    return bool(value) and all(name in _COMPARISONS and is_count(limit, minimum=0) for name, limit in value.items())


@dataclass(frozen=True, slots=True)
class Length:
    """A requested length. `kind`: target, minimum or maximum; `tolerance`: the share by which a target may be off."""

    unit: str
    count: int
    kind: str
    tolerance: float

    def off(self, text: str) -> float:
        """Return the difference to the requested length as a share of it; below 0 for a text that is too short."""
        return (_UNITS[self.unit](text) - self.count) / self.count

    def distance(self, text: str) -> float:
        """Return the absolute difference."""
        return abs(self.off(text))

    def fulfilled(self, text: str) -> bool:
        """Return whether the text has the requested length."""
        off = self.off(text)
        return {"minimum": off >= 0, "maximum": off <= 0, "target": abs(off) <= self.tolerance}[self.kind]


def _length(metric: str, measure: Callable[[Length, str], float]) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of the reply and the requested length of the context."""
    expected = (
        f"a dictionary with unit ({', '.join(_UNITS)}), count (a whole number from 1), type ({', '.join(_TYPES)}), and "
        "perhaps tolerance (a share from 0), or None if it does not apply"
    )

    def score(sample: Sample, prediction: Prediction) -> float | None:
        given = argument(sample, "length", metric=metric, expected=expected, valid=_is_length)
        if given is None:
            return None
        length = Length(given["unit"], given["count"], given["type"], given.get("tolerance", _TOLERANCE))
        return measure(length, prediction.text)

    return score


def _is_length(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return value is None
    return (
        value.keys() <= {"unit", "count", "type", "tolerance"}
        and value.get("unit") in tuple(_UNITS)
        and is_count(value.get("count"))
        and value.get("type") in _TYPES
        and _is_share(value.get("tolerance", 0))
    )


def length_ratio(sample: Sample, prediction: Prediction) -> float | None:
    """Return the characters of the reply divided by those of the context's `original`; None if that is empty."""
    asked = original(sample, "length_ratio")
    return len(prediction.text) / len(asked) if asked else None


def repetition(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if a run of words occurs more often than it may: by default, one of 128 words more than once."""
    rule = argument(
        sample,
        "repetition",
        metric="repetition",
        expected="a dictionary with whole numbers from 1 for any of window (words in a run), times (it may occur)",
        valid=_is_repetition,
        default={},
    )
    words, window = prediction.text.split(), rule.get("window", 128)
    runs = Counter(tuple(words[start : start + window]) for start in range(len(words) - window + 1))
    return float(max(runs.values(), default=0) > rule.get("times", 1))


def _is_repetition(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() <= {"window", "times"} and all(map(is_count, value.values()))


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


_METRIC = partial(Metric, kinds=frozenset({"completion"}))

METRICS = (
    *(_METRIC(name=unit, score=_limits(unit)) for unit in _UNITS),
    _METRIC(name="length.fulfilled", score=_length("length.fulfilled", Length.fulfilled)),
    _METRIC(name="length.off", score=_length("length.off", Length.distance), better="low", bounds=None),
    _METRIC(name="length.bias", score=_length("length.bias", Length.off), better="neither", bounds=None),
    _METRIC(name="length_ratio", score=length_ratio, better="low", bounds=None),
    _METRIC(name="repetition", score=repetition, better="low"),
)
