"""How sure it is that two cells differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_puma.core.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A cell beside another one, or beside its baseline, on the same samples.

    `tests` are the p-values of all paired tests that suit the answers; `test` names the one that is about the metric,
    `p` is its value, and `adjusted` counts it among all contrasts of a table. Effects are of the errors, above 0 where
    the cell is better: `rank_biserial` sample by sample, `cliffs_delta` over all pairs of samples.
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
