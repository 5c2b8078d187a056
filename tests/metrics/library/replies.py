"""Replies to a completion, and their scores by the metrics of the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample


def question(*references: str, **context: Any) -> Sample:
    return sample("s1", references=references, gold=references[0] if references else "", context=context)


def replied(text: str) -> Prediction:
    return prediction("s1", answer=text or None, raw=(text,))


def score(name: str, text: str, *references: str, **context: Any) -> Any:
    return LIBRARY[name].score(question(*references, **context), replied(text))


def corpus(name: str, pairs: Iterable[tuple[str, Sequence[str]]]) -> float:
    """The pooled value of texts with their references."""
    pool = LIBRARY[name].pool
    assert pool is not None
    sums = np.array([score(name, text, *references) for text, references in pairs]).sum(axis=0)
    assert sums.shape == (pool.width,)
    return float(pool.combine(sums[None, :])[0])
