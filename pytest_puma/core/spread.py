"""The spread of a change: how far the losses of questions moved, from which the power of a gate follows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the losses of `n` independent questions moved between two sets of answers, in the unit of a metric.

    Trials of one question are one observation. `moved`: the mean absolute change of a question. `size`: the size of
    equal changes with the same mean and the same spread; `unseen`: the assumed size of a change that was not observed,
    which is that between the answers to two different questions. `width`: the distance between the bounds of the
    metric, 0 if it has none. For right and wrong answers all sizes are 1.
    """

    n: float
    moved: float
    size: float = 1.0
    unseen: float = 1.0
    width: float = 1.0
