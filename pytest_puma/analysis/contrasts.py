"""The comparison table: contrasts between cells and the first cell along an axis, or their baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_puma.core import Contrast, Outcome
from pytest_puma.metrics import contrast
from pytest_puma.stats.significance import holm

#: The axes of comparison.
AXES = ("baseline", "strategy", "model")
_NEEDED = {
    "baseline": "no cell of this run has a baseline of the same samples; --puma-update-baseline makes one",
    "strategy": "this run has no two strategies of one scenario and model on the same samples, asked equally often",
    "model": "this run has no two models of one scenario and strategy on the same samples, asked equally often",
}


def contrasts_of(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[Contrast, ...]:
    """Return all contrasts along these axes, in the order of the cells, with p-values adjusted for all of them.

    A contrast is about the primary metric, or one that a gate limits. Cells with other samples, and metrics that the
    answers do not give, are left out.
    """
    contrasts = [each for axis in AXES if axis in axes for each in _along(axis, outcomes)]
    adjusted = holm([each.p for each in contrasts])
    return tuple(replace(each, adjusted=p) for each, p in zip(contrasts, adjusted, strict=True))


def not_compared(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each of these axes without a contrast, and for each cell that has none on its axis."""
    sentences = []
    for axis in (each for each in AXES if each in axes):
        if next(_along(axis, outcomes), None) is None:
            sentences.append(f"nothing to compare by {axis}: {_NEEDED[axis]}")
        else:
            sentences += [
                f"{new.cell} is not compared with {old.cell}: {why_apart(new, old)}"
                for new, old in _pairs(axis, outcomes)
                if next(_contrasts(new, old), None) is None and _shares_a_metric(new, old)
            ]
    return tuple(sentences)


def why_apart(one: Outcome, other: Outcome) -> str:
    """Return why two cells cannot be compared sample by sample."""
    times = [outcome.trials // max(outcome.samples, 1) for outcome in (one, other)]
    if one.samples == other.samples and times[0] != times[1]:
        return f"one asks each sample {_times(times[0])}, the other {_times(times[1])} (orders or repeats)"
    return "they have other samples"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _along(axis: str, outcomes: Sequence[Outcome]) -> Iterator[Contrast]:
    if axis == "baseline":
        yield from (contrast for outcome in outcomes for contrast in outcome.contrasts)
    for new, old in _pairs(axis, outcomes):
        yield from _contrasts(new, old)


def _pairs(axis: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Outcome]]:
    """Each cell with the first one along an axis; none along that of baselines, which every cell has for itself."""
    first: dict[tuple[str | None, ...], Outcome] = {}
    for outcome in outcomes if axis != "baseline" else ():
        other = outcome.model if axis == "strategy" else outcome.strategy
        control = first.setdefault((outcome.scenario, other, outcome.perturbation), outcome)
        if control is not outcome:
            yield outcome, control


def _shares_a_metric(outcome: Outcome, control: Outcome) -> bool:
    return not outcome.replicates.keys().isdisjoint(control.replicates)


def _contrasts(outcome: Outcome, control: Outcome) -> Iterator[Contrast]:
    for metric in dict.fromkeys((outcome.primary, *outcome.replicates)):
        new, old = (each.replicates.get(metric) for each in (outcome, control))
        if new is not None and old is not None and new.samples == old.samples:
            yield contrast(outcome.cell, control.cell, new, old, seed=outcome.signature["seed"])
