"""The comparison table: contrasts between cells and the first cell along an axis, or their baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_puma.core import Contrast, Outcome
from pytest_puma.metrics import contrast
from pytest_puma.stats import holm

#: The axes of comparison.
AXES = ("baseline", "strategy", "model")
_NEEDED = {
    "baseline": "no cell of this run has a baseline of the same samples; --puma-update-baseline makes one",
    "strategy": "this run has no two strategies of one scenario and model on the same samples",
    "model": "this run has no two models of one scenario and strategy on the same samples",
}


def compare(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[Contrast, ...]:
    """Return all contrasts along these axes, in the order of the cells, with p-values adjusted for all of them.

    A contrast is about the primary metric, or one that a gate limits. Cells with other samples, and metrics that the
    answers do not give, are left out.
    """
    contrasts = [each for axis in AXES if axis in axes for each in _along(axis, outcomes)]
    adjusted = holm([each.p for each in contrasts])
    return tuple(replace(each, adjusted=p) for each, p in zip(contrasts, adjusted, strict=True))


def not_compared(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each of these axes without a contrast."""
    empty = (axis for axis in AXES if axis in axes and next(_along(axis, outcomes), None) is None)
    return tuple(f"nothing to compare by {axis}: {_NEEDED[axis]}" for axis in empty)


def _along(axis: str, outcomes: Sequence[Outcome]) -> Iterator[Contrast]:
    if axis == "baseline":
        yield from (contrast for outcome in outcomes for contrast in outcome.contrasts)
        return
    first: dict[tuple[str | None, ...], Outcome] = {}
    for outcome in outcomes:
        other = outcome.model if axis == "strategy" else outcome.strategy
        control = first.setdefault((outcome.scenario, other, outcome.perturbation), outcome)
        if control is not outcome:
            yield from _contrasts(outcome, control)


def _contrasts(outcome: Outcome, control: Outcome) -> Iterator[Contrast]:
    for metric in dict.fromkeys((outcome.primary, *outcome.replicates)):
        new, old = (each.replicates.get(metric) for each in (outcome, control))
        if new is not None and old is not None and new.samples == old.samples:
            yield contrast(outcome.cell, control.cell, new, old, seed=outcome.signature["seed"])
