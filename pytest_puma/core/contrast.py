"""The paired comparison of two cells, with its tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_puma.core.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A cell compared with another cell, or with its baseline, on the same samples.

    `tests`: the p-values of all paired tests that suit the answers; `test`: the name of the metric's own test; `p`: its
    p-value; `adjusted`: `p` corrected for all contrasts of the table. Effect sizes compare errors and are above 0 if
    the cell is better: `rank_biserial` is paired by sample, `cliffs_delta` is over all pairs of samples.
    """

    cell: str
    against: str
    change: Change
    test: str
    p: float
    adjusted: float
    tests: Mapping[str, float]
    rank_biserial: float
    cliffs_delta: float
