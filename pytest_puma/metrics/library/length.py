"""Metrics of the length of a reply: words, sentences, paragraphs, and of what it repeats.

context = {"words": {"at_least": 100, "less_than": 151}, "sentences": {"target": 3}}
context = {"length": {"unit": "words", "count": 200, "type": "target", "tolerance": 0.1}}

Sentences are found by rules: no trained model, no download, the same count everywhere.

    Dr. Lee paid $3.50. Why? It rained... Then I left.
    Dr. Lee paid $3.50. | Why? | It rained... | Then I left.

A sentence ends at `.`, `?`, `!` or `...`, then closing quotes and brackets, then white space; in Chinese and Japanese
at a full stop without white space. `?` and `!` always end a sentence, a line break alone never does. An abbreviation,
an initial or an ellipsis ends one only if the next word is a capitalised one that usually starts sentences; a title
such as `Dr.` ends none.
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

_LIST_NUMBER = re.compile(r"^[^\S\n]*\d+\.\s", re.MULTILINE)
#: Latin, Arabic, Urdu, Devanagari, Armenian and Ethiopic.
_MARKS = r".?!\u2026\u061f\u06d4\u0964\u0589\u1362"
#: Where a sentence ends, perhaps, up to the next word. A mark that follows a mark belongs to it.
_END = re.compile(
    rf"""(?<![{_MARKS}])(?P<mark>[{_MARKS}]+)
        ["')\]}}*_\u2019\u201d\u00bb]*
        \s+(?=(?P<next>\S{{1,40}}))
        |[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*\s*""",
    re.VERBOSE,
)
#: Characters that a word before a mark does not contain.
_BREAK = re.compile(r"[\s?!\u2026]")
_OPENERS = "\"'([{*_\u2018\u201c\u00ab"
#: Letters with full stops between them: U.S., e.g., Ph.D., and the initial of a name.
_LETTERS = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+|[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")

#: Titles, and abbreviations within a sentence.
_NEVER_LAST = re.compile(
    r"adm|capt|col|dr|e\.g|fr|gen|gov|hon|i\.e|maj|messrs|mr|mrs|ms|prof|rep|rev|sen|sgt", re.IGNORECASE
)
_BEFORE_NUMBERS = re.compile(r"ch|eq|figs?|nos?|pp?|sec|vol", re.IGNORECASE)
_ABBREVIATIONS = re.compile(
    r"al|approx|apr|aug|ave|bros|ca|cf|co|corp|dec|dept|ed|etc|feb|fri|inc|jan|jr|lt|ltd|mon|mt|nov|oct|sept?|sr|st"
    r"|thu|thurs|tues?|vs|wed",
    re.IGNORECASE,
)
#: Usually at the start of a sentence if they are capitalised.
_STARTERS = re.compile(
    r"A|After|All|Also|Although|An|And|Another|Any|Are|As|At|Because|Before|Both|But|By|Can|Could|Did|Do|Does|Each"
    r"|Every|For|From|Had|Has|Have|He|Her|Here|His|How|However|I|If|In|Is|It|Its|Let|Many|Most|My|No|Nor|Not|Now|Of"
    r"|On|Once|One|Or|Our|Please|She|Since|So|Some|Such|That|The|Their|Then|There|These|They|This|Those|Though|To"
    r"|Under|Until|Was|We|Were|What|When|Where|Which|While|Who|Why|Will|With|Would|Yes|Yet|You|Your"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space around them."""
    sentences, start, seen = [], 0, 0
    for end in _END.finditer(text):
        if _ends(end, text[seen : end.start()]):
            sentences.append(text[start : end.end()].strip())
            start = end.end()
        seen = end.end()
    return [sentence for sentence in (*sentences, text[start:].strip()) if sentence]


def _ends(end: re.Match[str], before: str) -> bool:
    """Whether the mark ends a sentence. `before`: the text between it and the mark before it."""
    mark, following = end["mark"], end["next"]
    if mark is None or set(mark) - {".", "\u2026"}:
        return True
    word = _BREAK.split(before)[-1].lstrip(_OPENERS)
    if mark == "." and _NEVER_LAST.fullmatch(word):
        return False
    if mark == "." and _BEFORE_NUMBERS.fullmatch(word):
        return not following[0].isdigit()
    if mark == "." and word.isdigit():
        return not following[0].islower()
    doubtful = mark != "." or _ABBREVIATIONS.fullmatch(word) or _LETTERS.fullmatch(word)
    return not doubtful or _starts(following)


def _starts(following: str) -> bool:
    """Whether a word is capitalised, and usually starts a sentence if it is."""
    word = _WORD.match(following.lstrip(_OPENERS))
    return word is not None and _STARTERS.fullmatch(word[0].capitalize()) is not None and word[0][0].isupper()


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
