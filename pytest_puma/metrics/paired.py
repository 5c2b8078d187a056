"""What became of a metric between two sets of answers to the same samples, with the paired interval of the change.

Both sets are resampled together, so that what is hard for both cancels out. Source of the paired bootstrap:
B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 8; for comparing systems on one test set:
P. Koehn, "Statistical significance tests for machine translation evaluation", EMNLP 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Change, Draws
from pytest_puma.stats import LEVEL, change_interval, mcnemar

if TYPE_CHECKING:
    from pytest_puma.metrics.statistic import Values

#: Added to both sides of a quotient: nothing beside any error, but 0 / 0 is 1.
_TINY = 1e-9


def between(new: Draws, old: Draws, *, quotient: bool, level: float = LEVEL) -> Change:
    """What a metric is in one set of answers beside another one to the same samples."""
    compare = _quotient if quotient else np.subtract
    value = float(compare(np.array(new.value), np.array(old.value)))
    values = compare(np.array(new.values), np.array(old.values))
    turned = np.array(new.errors) - np.array(old.errors)
    count = int(np.count_nonzero(turned))
    low = high = value
    # Of errors none of which is greater or less, and of quotients of them, there is nothing to widen.
    if count or not (quotient or new.numbers):
        low, high = change_interval(value, values, n=len(turned), turned=count, level=level)
    worse, better = int((turned > 0).sum()), int((turned < 0).sum())
    if new.metric == "accuracy" and mcnemar(worse, better) > 1 - level:
        # The exact test is about this very change: where it finds none, neither may the interval.
        same = 1.0 if quotient else 0.0
        low, high = min(low, same), max(high, same)
    return Change(
        metric=new.metric,
        old=old.value,
        new=new.value,
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=len(turned),
        worse=worse,
        better=better,
        quotient=quotient,
        numbers=new.numbers,
        share=new.share,
        level=level,
    )


def _quotient(new: Values, old: Values) -> Values:
    return (new + _TINY) / (old + _TINY)
