"""The drift of a series of renewed baselines away from its anchor, the first one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Evidence for a decline since the anchor, summed over `renewals` of the baseline and this run.

    `total` is the cumulative sum of `pytest_puma.stats.cusum`.
    """

    total: float
    renewals: int
