"""Metrics of the length of a reply: words, sentences, paragraphs, and of what it repeats.

context = {"words": {"at_least": 100, "less_than": 151}, "sentences": {"target": 3}}
context = {"length": {"unit": "words", "count": 200, "type": "target", "tolerance": 0.1}}
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from operator import eq, ge, lt
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library.reading import Count, argument, completion_metric, original
from pytest_puma.metrics.library.sentences import split_sentences

_LIST_NUMBER = re.compile(r"^[^\S\n]*\d+\.\s", re.MULTILINE)


def count_words(text: str) -> int:
    """Return the number of runs of letters, digits and underscores. An accent does not end a run."""
    bare = "".join(character for character in text if not unicodedata.category(character).startswith("M"))
    return len(re.findall(r"\w+", bare))


def count_sentences(text: str) -> int:
    """Return the number of sentences that have a letter or a digit; the number of a list item is none."""
    return sum(any(map(str.isalnum, sentence)) for sentence in split_sentences(_LIST_NUMBER.sub("", text)))


def count_paragraphs(text: str) -> int:
    """Return the number of paragraphs; blank lines stand between them."""
    return sum(bool(part.strip()) for part in re.split(r"\n\s*\n", text))


_UNITS: Mapping[str, Callable[[str], int]] = {
    "words": count_words,
    "sentences": count_sentences,
    "paragraphs": count_paragraphs,
}
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {"at_least": ge, "less_than": lt, "target": eq}
_Limits: TypeAlias = Annotated[
    dict[Literal["at_least", "less_than", "target"], Annotated[int, Meta(ge=0)]], Meta(min_length=1)
]


def _limits(unit: str) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function: 1 if the number of these units is within all limits of the context."""
    expected = f"a dictionary with whole numbers for any of {', '.join(_COMPARISONS)}, or None if it does not apply"

    def score(sample: Sample, prediction: Prediction) -> float | None:
        limits = argument(sample, unit, _Limits | None, metric=unit, expected=expected)
        if limits is None:
            return None
        number = _UNITS[unit](prediction.text)
        return float(all(_COMPARISONS[name](number, limit) for name, limit in limits.items()))

    return score


class Length(Struct, frozen=True, forbid_unknown_fields=True):
    """A requested length; `tolerance`: the share by which a target may be off."""

    unit: Literal["words", "sentences", "paragraphs"]
    count: Count
    type: Literal["target", "minimum", "maximum"]
    tolerance: Annotated[float, Meta(ge=0)] = 1 / 6

    def off(self, text: str) -> float:
        """Return the difference to the requested length as a share of it; below 0 for a text that is too short."""
        return (_UNITS[self.unit](text) - self.count) / self.count

    def distance(self, text: str) -> float:
        """Return the absolute difference."""
        return abs(self.off(text))

    def fulfilled(self, text: str) -> bool:
        """Return whether the text has the requested length."""
        off = self.off(text)
        return {"minimum": off >= 0, "maximum": off <= 0, "target": abs(off) <= self.tolerance}[self.type]


def _length(metric: str, measure: Callable[[Length, str], float]) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of the reply and the requested length of the context."""
    expected = (
        f"a dictionary with unit ({', '.join(_UNITS)}), count (a whole number from 1), type (target, minimum, "
        "maximum), and perhaps tolerance (a share from 0), or None if it does not apply"
    )

    def score(sample: Sample, prediction: Prediction) -> float | None:
        length = argument(sample, "length", Length | None, metric=metric, expected=expected)
        return None if length is None else measure(length, prediction.text)

    return score


def length_ratio(sample: Sample, prediction: Prediction) -> float | None:
    """Return the characters of the reply divided by those of the context's `original`; None if that is empty."""
    asked = original(sample, "length_ratio")
    return len(prediction.text) / len(asked) if asked else None


def repetition(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if a run of words occurs more often than it may: by default, one of 128 words more than once."""
    rule = argument(
        sample,
        "repetition",
        dict[Literal["window", "times"], Count],
        metric="repetition",
        expected="a dictionary with whole numbers from 1 for any of window (words in a run), times (it may occur)",
        default={},
    )
    words, window = prediction.text.split(), rule.get("window", 128)
    runs = Counter(tuple(words[start : start + window]) for start in range(len(words) - window + 1))
    return float(max(runs.values(), default=0) > rule.get("times", 1))


METRICS = (
    *(completion_metric(name=unit, score=_limits(unit)) for unit in _UNITS),
    completion_metric(name="length.fulfilled", score=_length("length.fulfilled", Length.fulfilled)),
    completion_metric(name="length.off", score=_length("length.off", Length.distance), better="low", bounds=None),
    completion_metric(name="length.bias", score=_length("length.bias", Length.off), better="neither", bounds=None),
    completion_metric(name="length_ratio", score=length_ratio, better="low", bounds=None),
    completion_metric(name="repetition", score=repetition, better="low"),
)
