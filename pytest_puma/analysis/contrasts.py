"""Cells compared with each other on the same samples: the table of contrasts, and the best cell of a scenario."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_puma.core import LEVEL, BootstrapReplicates, CellId, Contrast, Outcome
from pytest_puma.metrics import contrast
from pytest_puma.phrases import megabytes, named
from pytest_puma.stats.selection import Selected, select
from pytest_puma.stats.significance import holm

#: The axes of comparison.
AXES = ("baseline", "strategy", "model", "variant")
_NEEDED = {
    "baseline": "no cell of this run has a baseline of the same samples; --puma-update-baseline makes one",
    "strategy": "this run has no two strategies of one scenario and model on the same samples, asked equally often",
    "model": "this run has no two models of one scenario and strategy on the same samples, asked equally often",
    "variant": "this run has no variant beside its plain model; add 0 to the list, as in steer=polite.gguf:0/4/8, or "
    "none to that of quant=",
}


def contrasts_of(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[Contrast, ...]:
    """Return all contrasts along these axes, in the order of the cells, with p-values adjusted for all of them.

    A contrast is about the primary metric, or one that a gate limits. Cells with other samples, and metrics that the
    answers do not give, are left out.
    """
    return adjusted([found for axis in AXES if axis in axes for found in _along(axis, outcomes)])


def adjusted(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """Return contrasts with p-values that are adjusted for all of them."""
    values = holm([unadjusted.p for unadjusted in contrasts])
    return tuple(replace(unadjusted, adjusted=p) for unadjusted, p in zip(contrasts, values, strict=True))


def not_compared(outcomes: Sequence[Outcome], axes: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each of these axes without a contrast, and for each cell that has none on its axis."""
    sentences = []
    for axis in (axis for axis in AXES if axis in axes):
        if next(_along(axis, outcomes), None) is None:
            sentences.append(f"nothing to compare by {axis}: {_NEEDED[axis]}")
        else:
            sentences += [
                f"{new.cell} is not compared with {old.cell}: {why_apart(new, old)}"
                for new, old in _pairs(axis, outcomes)
                if next(_contrasts(new, old), None) is None
                and not new.judgement.replicates.keys().isdisjoint(old.judgement.replicates)
            ]
    return tuple(sentences)


def common(new: Outcome, old: Outcome, metric: str) -> tuple[BootstrapReplicates, BootstrapReplicates] | None:
    """Return the replicates of a metric in two cells; None if one lacks it, or if they have other samples."""
    both = new.judgement.replicates.get(metric), old.judgement.replicates.get(metric)
    if both[0] is None or both[1] is None or both[0].samples != both[1].samples:
        return None
    return both[0], both[1]


def why_apart(one: Outcome, other: Outcome) -> str:
    """Return why two cells cannot be compared sample by sample."""
    times = [outcome.execution.trials // max(outcome.execution.samples, 1) for outcome in (one, other)]
    if one.execution.samples == other.execution.samples and times[0] != times[1]:
        first, second = ("once" if number == 1 else f"{number} times" for number in times)
        return f"one asks each sample {first}, the other {second} (orders or repeats)"
    return "they have other samples"


def selected(cells: Sequence[Outcome], metric: str, *, greatest: bool) -> Selected:
    """Choose the cell with the greatest or the smallest value of a metric."""
    replicates = [cell.judgement.replicates[metric] for cell in cells]
    resampled = [cell.values for cell in replicates]
    return select([cell[metric] for cell in cells], resampled, greatest=greatest, bounds=replicates[0].bounds)


def leaders(outcomes: Sequence[Outcome], sizes: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """Return sentences for each scenario with several cells of the same samples: its best cell by the primary metric.

    If all values are equal, none is the best. A second one states what that cell costs, if it was measured. `sizes`:
    the bytes of the weights of models.

    The value is corrected as that of a gate on the maximum. The lead over all others is sure if each of its p-values is
    at most .05 after multiplication by the number of the others: a wrong best cell leads the truly best one by chance,
    and each of the others may do that. If it is not, that over a single cell is sure if its p-value is at most .05
    after multiplication by the number of all pairs of cells, any of which could have been chosen (Bonferroni).
    """
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        comparable = outcome.primary in outcome.judgement.replicates and not math.isnan(outcome[outcome.primary])
        if (
            outcome.name.perturbation is None
            and comparable
            and outcome.judgement.replicates[outcome.primary].better != "neither"
        ):
            groups.setdefault(outcome.name.scenario, []).append(outcome)
    found = (_leader(name, group, sizes or {}) for name, group in groups.items() if _is_alike(group))
    return tuple(sentence for sentences in found for sentence in sentences)


def _is_alike(group: Sequence[Outcome]) -> bool:
    """Whether there are several cells, with the same metric on the same samples."""
    first = group[0]
    return len(group) > 1 and all(
        cell.primary == first.primary and common(cell, first, first.primary) is not None for cell in group
    )


def _leader(scenario: str, group: Sequence[Outcome], sizes: Mapping[str, int]) -> list[str]:
    metric, count = group[0].primary, len(group)
    rises = group[0].judgement.replicates[metric].better == "high"
    chosen = selected(group, metric, greatest=rises)
    best, pairs = group[chosen.place], count * (count - 1) // 2
    if len({cell[metric] for cell in group}) == 1:
        tie = f"best of {count} cells of {scenario}: none, as all have {metric} {best[metric]:.3g}"
        return [tie, *_programs(best, metric, rises=rises)]
    rest = [(cell, lead) for cell in group if cell is not best for lead in _contrasts(best, cell, metric)]
    second, ahead = max(rest, key=lambda pair: pair[0][metric] if rises else -pair[0][metric])
    p = min(1.0, max(lead.p for _, lead in rest) * (count - 1))
    unsure = [_shown(cell) for cell, lead in rest if p > 1 - LEVEL and not lead.p * pairs <= 1 - LEVEL]
    sure = f"not sure over {named(unsure, 3)}" if unsure else "sure over all others"
    # Without the sign of -0.
    low, high = sorted((end if rises else -end) + 0.0 for end in (ahead.change.low, ahead.change.high))
    interval = "" if math.isnan(low) else f" [{low:.3g}, {high:.3g}]"
    sentence = (
        f"best of {count} cells of {scenario}: {_shown(best)}, {metric} {best[metric]:.3g}, {chosen.value:.3g} if "
        f"corrected for the choice; {abs(ahead.change.value):.3g}{interval} ahead of {_shown(second)}; "
        f"its lead is {sure} (p {p:.2g}, corrected for the choice)"
    )
    return [sentence, *_programs(best, metric, rises=rises), *_costs(best, sizes.get(best.name.model, 0))]


def _programs(best: Outcome, metric: str, *, rises: bool) -> Iterator[str]:
    """Yield the best naive baseline, if it is better than the best cell."""
    programs = {
        name: measures[metric].value for name, measures in best.tables.naive_baselines.items() if metric in measures
    }
    if programs:
        name, value = (max if rises else min)(programs.items(), key=lambda program: program[1])
        if value > best[metric] if rises else value < best[metric]:
            yield f"naive.{name}, a program without a model, is ahead of all of them: {metric} {value:.3g}"


def _costs(cell: Outcome, size: int) -> Iterator[str]:
    """Yield the speed of a cell, the size of its weights and its peak of memory, if the cell was computed."""
    speed, peak = cell.execution.speed, cell.execution.peak_memory
    rates = (
        ("read", speed.prefill_tokens, speed.prefill_seconds),
        ("wrote", speed.decode_tokens, speed.decode_seconds),
    )
    shown = " and ".join(f"{verb} {tokens / seconds:,.0f}" for verb, tokens, seconds in rates if seconds)
    if shown:
        sizes = ((size, "of weights"), (peak, "of memory at the peak"))
        parts = [f"{megabytes(number)} MB {what}" for number, what in sizes if number]
        yield f"{_shown(cell)}: {', '.join([f'{shown} tokens a second', *parts])}"


def _shown(cell: Outcome) -> str:
    return f"{cell.name.strategy}@{cell.name.model}"


def _along(axis: str, outcomes: Sequence[Outcome]) -> Iterator[Contrast]:
    if axis == "baseline":
        yield from (stored for outcome in outcomes for stored in outcome.judgement.contrasts)
    for new, old in _pairs(axis, outcomes):
        yield from _contrasts(new, old)


def _pairs(axis: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Outcome]]:
    """Each cell with the first one along an axis; none along that of baselines, which every cell has for itself.

    A variant is compared with its plain model.
    """
    if axis == "variant":
        plain = {outcome.name: outcome for outcome in outcomes if outcome.name.variant is None}
        varied = [outcome for outcome in outcomes if outcome.name.without("variant") in plain.keys() - {outcome.name}]
        yield from ((outcome, plain[outcome.name.without("variant")]) for outcome in varied)
        return
    first: dict[CellId, Outcome] = {}
    for outcome in outcomes if axis != "baseline" else ():
        control = first.setdefault(outcome.name.without("strategy" if axis == "strategy" else "model"), outcome)
        if control is not outcome:
            yield outcome, control


def _contrasts(outcome: Outcome, control: Outcome, *metrics: str) -> Iterator[Contrast]:
    """The contrasts of some metrics, or of all that are to be compared."""
    for metric in metrics or dict.fromkeys((outcome.primary, *outcome.judgement.replicates)):
        if both := common(outcome, control, metric):
            yield contrast(outcome.cell, control.cell, *both, seed=outcome.execution.signature["seed"])
