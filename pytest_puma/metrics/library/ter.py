"""TER (Snover 2006), as sacrebleu computes it: edits that turn a reply into a reference, in % of the reference's words.

`ter` is of all replies of a cell as one corpus, not a mean. Each reply adds two numbers: the edits to the nearest
reference, and the mean length of its references. It can exceed 100; lower is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.lines import by_line
from pytest_puma.metrics.library.references import best
from pytest_puma.stats.arrays import Values

if TYPE_CHECKING:
    from sacrebleu.metrics.ter import TER

#: A reply of more words, and of so many times those of the reference, is taken as it is, without shifts of words.
_LONG, _TIMES = 1000, 5
#: The TER of a reply that has nothing of its reference.
NOTHING = 100.0


def sums(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
    """Return the two numbers of a reply."""
    return _edits(prediction.text, sample.references) if sample.references else None


def corpus_ter(sums: Values) -> Values:
    """Return the TER of each row of sums. Without a word in the references it is 100 for any edit, else 0."""
    edits, length = sums[:, 0], sums[:, 1]
    return np.where(length > 0, 100 * edits / np.where(length > 0, length, 1), np.where(edits > 0, NOTHING, 0.0))


def sentence_ter(text: str, reference: str) -> float:
    """Return the TER of a single text."""
    edits, length = _edits(text, [reference])
    return 100 * (edits / length) if length else NOTHING * (edits > 0)


def _edits(text: str, references: Sequence[str]) -> tuple[float, float]:
    """The edits to the nearest reference, and the mean length of all."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    words, *others = (_ter()._preprocess_segment(each).split() for each in (text, *references))  # noqa: SLF001
    long = [len(words) > max(_LONG, _TIMES * len(other)) for other in others]
    edits = (
        _distance(words, other) if is_long else translation_edit_rate(words, other)[0]
        for other, is_long in zip(others, long, strict=True)
    )
    return float(min(edits)), sum(map(len, others)) / len(others)


def _distance(words: Sequence[str], reference: Sequence[str]) -> int:
    """The edits without shifts: the tries of a thousand shifts of a reply without an end take minutes."""
    codes = {word: code for code, word in enumerate(dict.fromkeys(reference))}
    wanted, places = np.array([codes[word] for word in reference], dtype=np.intp), np.arange(len(reference) + 1)
    row = places
    for number, word in enumerate(words, start=1):
        replaced = row[:-1] + (wanted != codes.get(word, -1))
        row = np.concatenate(([number], np.minimum(row[1:] + 1, replaced)))
        row = np.minimum.accumulate(row - places) + places
    return int(row[-1])


@cache
def _ter() -> TER:
    from sacrebleu.metrics.ter import TER

    return TER()


_LOW: dict[str, Any] = {
    "better": "low",
    "unit": "points",
    "bounds": None,
    "extra": "text",
    "kinds": frozenset({"completion"}),
}

METRICS = (
    Metric(name="ter", score=sums, pool=Pool(2, corpus_ter), **_LOW),
    Metric(name="ter.lines", score=best(by_line(sentence_ter, none=NOTHING, better="low"), "low"), **_LOW),
)
