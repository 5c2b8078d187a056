"""Several judges: one value from the values that they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any


def majority(votes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return for each name the most frequent of the judges' values, the mean of those that are as frequent.

    None if no judge has a value. Values of a pool are vectors, whose elements are counted alone.
    """
    return {name: _majority([vote[name] for vote in votes if vote[name] is not None]) for name in votes[0]}


def _majority(values: Sequence[Any]) -> Any:
    if len(values) < 2:  # noqa: PLR2004 - nothing to count
        return values[0] if values else None
    if isinstance(values[0], tuple):
        return tuple(map(_majority, zip(*values, strict=True)))
    counts = Counter(values)
    return fmean(value for value, count in counts.items() if count == max(counts.values()))
