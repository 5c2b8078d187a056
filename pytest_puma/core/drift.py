"""How a series of renewed baselines moved away from the one that it started from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The evidence that a cell became worse since its anchor, added up over `renewals` of its baseline and this run.

    `total` is the cumulative sum of `pytest_puma.stats.cusum`.
    """

    total: float
    renewals: int
