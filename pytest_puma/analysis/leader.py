"""The best cell of a scenario, and how sure its lead is, corrected for the choice of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import LEVEL, Outcome
from pytest_puma.metrics import contrast
from pytest_puma.stats.selection import select


def leaders(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return a sentence for each scenario with several cells of the same samples: its best cell by the primary metric.

    The value is corrected as that of a gate on the maximum. The lead over another cell is sure if its p-value is at
    most .05 after multiplication by the number of all pairs of cells, any of which could have been chosen (Bonferroni).
    """
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        comparable = outcome.primary in outcome.replicates and not math.isnan(outcome[outcome.primary])
        if outcome.perturbation is None and comparable and outcome.replicates[outcome.primary].better != "neither":
            groups.setdefault(outcome.scenario, []).append(outcome)
    return tuple(_leader(name, group) for name, group in groups.items() if _is_alike(group))


def _is_alike(group: Sequence[Outcome]) -> bool:
    """Whether there are several cells, with the same metric on the same samples."""
    samples = [each.replicates[each.primary].samples for each in group]
    return len(group) > 1 and len({each.primary for each in group}) == 1 and all(each == samples[0] for each in samples)


def _leader(scenario: str, group: Sequence[Outcome]) -> str:
    metric = group[0].primary
    replicates = [each.replicates[metric] for each in group]
    selected = select(
        [each[metric] for each in group],
        [each.values for each in replicates],
        greatest=replicates[0].better == "high",
        bounds=replicates[0].bounds,
    )
    best = group[selected.place]
    pairs = len(group) * (len(group) - 1) // 2
    unsure = [each.strategy + f"@{each.model}" for each in group if each is not best and not _leads(best, each, pairs)]
    lead = f"not sure over {', '.join(unsure)}" if unsure else "sure over all others"
    return (
        f"best of {len(group)} cells of {scenario}: {best.strategy}@{best.model}, {metric} {best[metric]:.3g}, "
        f"{selected.value:.3g} if corrected for the choice; its lead is {lead}"
    )


def _leads(best: Outcome, other: Outcome, pairs: int) -> bool:
    old, new = (each.replicates[each.primary] for each in (other, best))
    return contrast(best.cell, other.cell, new, old, seed=best.signature["seed"]).p * pairs <= 1 - LEVEL
