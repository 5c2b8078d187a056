"""TER (Snover 2006), as sacrebleu computes it: edits that turn a reply into a reference, in % of the reference's words.

`ter` is of all replies of a cell as one corpus, not a mean. Each reply adds two numbers: the edits to the nearest
reference, and the mean length of its references. It can exceed 100; lower is better.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.lines import by_line
from pytest_puma.metrics.library.references import best

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sacrebleu.metrics.ter import TER

    Column = NDArray[np.float64]

#: The TER of a reply that has nothing of its reference.
NOTHING = 100.0


def sums(sample: Sample, prediction: Prediction) -> tuple[float, float] | None:
    """Return the two numbers of a reply."""
    if not sample.references:
        return None
    score = _ter().sentence_score(prediction.text, sample.references)
    return float(score.num_edits), float(score.ref_length)


def corpus_ter(sums: Column) -> Column:
    """Return the TER of each row of sums. Without a word in the references it is 100 for any edit, else 0."""
    edits, length = sums[:, 0], sums[:, 1]
    return np.where(length > 0, 100 * edits / np.where(length > 0, length, 1), np.where(edits > 0, NOTHING, 0.0))


def sentence_ter(text: str, reference: str) -> float:
    """Return the TER of a single text."""
    return float(_ter().sentence_score(text, [reference]).score)


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
