"""The effect of perturbations and of variants on the cells of a run: each cell, paired with that without."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from pytest_puma.analysis.contrasts import adjusted, common
from pytest_puma.core import (
    AnswerChanges,
    BootstrapReplicates,
    Direction,
    Gap,
    Measure,
    Outcome,
    Robustness,
    Shift,
    Shifts,
)
from pytest_puma.core.cell_id import Axis
from pytest_puma.metrics import contrast, paired_change
from pytest_puma.metrics.measuring import measure
from pytest_puma.metrics.statistic import proportion
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.stats.resampling import Resamples
from pytest_puma.stats.selection import select

_Effect = TypeVar("_Effect", bound=Shifts)


def robustness(outcomes: Sequence[Outcome], added: Mapping[str, Perturbation] | None = None) -> tuple[Robustness, ...]:
    """Return the robustness of every cell with perturbed twins; `added` are the perturbations of plugins, by name.

    A twin with other samples, or with answers that do not give the metric, is left out.
    """
    clean = [outcome for outcome in outcomes if outcome.name.perturbation is None]
    twins = [(outcome, _twins(outcome, outcomes, "perturbation")) for outcome in clean]
    return tuple(_robustness(outcome, perturbed, added) for outcome, perturbed in twins if perturbed)


def variant_shifts(outcomes: Sequence[Outcome]) -> tuple[Shifts, ...]:
    """Return the effect of the variants of each plain model on its cells.

    A variant with other samples, or with answers that do not give the metric, is left out.
    """
    plain = [outcome for outcome in outcomes if outcome.name.variant is None and outcome.name.perturbation is None]
    twins = [(outcome, _twins(outcome, outcomes, "variant")) for outcome in plain]
    return tuple(_of_variants(outcome, varied) for outcome, varied in twins if varied)


def _effect(kind: type[_Effect], outcome: Outcome, shifts: tuple[Shift, ...], **more: Any) -> _Effect:
    """The effect of twins on a cell; `more` are further fields of its kind."""
    replicates, name = outcome.judgement.replicates[outcome.primary], outcome.name
    return kind(
        cell=outcome.cell,
        scenario=name.scenario,
        strategy=name.strategy,
        model=name.model,
        metric=replicates.metric,
        value=replicates.value,
        shifts=shifts,
        **more,
    )


def _of_variants(outcome: Outcome, twins: Mapping[str, BootstrapReplicates]) -> Shifts:
    replicates = outcome.judgement.replicates[outcome.primary]
    return _effect(Shifts, outcome, _shifts(replicates, twins, _resamples(replicates)))


def _twins(outcome: Outcome, outcomes: Iterable[Outcome], axis: Axis) -> dict[str, BootstrapReplicates]:
    """The replicates of the primary metric in the twins of a cell, by the name of their perturbation or variant."""
    twins = [twin for twin in outcomes if twin is not outcome and twin.name.without(axis) == outcome.name]
    pairs = ((getattr(twin.name, axis), common(twin, outcome, outcome.primary)) for twin in twins)
    return {name: both[0] for name, both in pairs if name and both is not None}


def _robustness(
    outcome: Outcome, twins: Mapping[str, BootstrapReplicates], added: Mapping[str, Perturbation] | None
) -> Robustness:
    replicates = outcome.judgement.replicates[outcome.primary]
    measured = {name: twin for name, twin in twins.items() if not math.isnan(twin.value)}
    worst, observed, corrected = _worst(measured, replicates.better)
    resamples = _resamples(replicates)
    return _effect(
        Robustness,
        outcome,
        _shifts(replicates, twins, resamples),
        worst=worst,
        worst_value=observed,
        worst_corrected=corrected,
        always_right=None if replicates.graded else _always_right([replicates, *twins.values()], resamples),
        gaps=_gaps(twins, added),
    )


def _resamples(replicates: BootstrapReplicates) -> Resamples:
    return Resamples(replicates.units or [()] * len(replicates.answers), seed=replicates.seed)


def _worst(twins: Mapping[str, BootstrapReplicates], better: Direction) -> tuple[str | None, float, float]:
    """Name and value of the worst twin, and the value without selection bias; none for a metric without direction."""
    if not twins or better == "neither":
        return None, math.nan, math.nan
    names, replicates = list(twins), list(twins.values())
    worst = select([twin.value for twin in replicates], [twin.values for twin in replicates], greatest=better == "low")
    return names[worst.place], replicates[worst.place].value, worst.value


def _shifts(
    clean: BootstrapReplicates, twins: Mapping[str, BootstrapReplicates], resamples: Resamples
) -> tuple[Shift, ...]:
    """The shift by each twin, with p-values adjusted for all of them."""
    contrasts = adjusted([contrast(name, "", twin, clean, seed=clean.seed) for name, twin in twins.items()])
    return tuple(
        Shift(
            perturbation=shifted.cell,
            change=shifted.change,
            answer_changes=_answer_changes(clean, twins[shifted.cell], resamples),
            test=shifted.test,
            p=shifted.p,
            adjusted=shifted.adjusted,
        )
        for shifted in contrasts
    )


def _answer_changes(clean: BootstrapReplicates, twin: BootstrapReplicates, resamples: Resamples) -> AnswerChanges:
    errors = list(zip(clean.errors, twin.errors, strict=True))
    if clean.scored:
        changed = [was != now for was, now in errors]
    else:
        answers = zip(clean.answers, twin.answers, strict=True)
        changed = [not _same_answer(old, new, graded=clean.graded) for old, new in answers]
    if clean.scored:
        # Any loss of a score may be right for one sample, so that only its direction counts.
        became = [(was < now, now < was) for was, now in errors if was != now]
    else:
        became = [(not was, not now) for (was, now), flip in zip(errors, changed, strict=True) if flip]
    return AnswerChanges(
        rate=_share("flip_rate", changed, resamples, clean.questions),
        fixed=became.count((False, True)),
        broken=became.count((True, False)),
        still_wrong=became.count((False, False)),
    )


def _same_answer(old: str | None, new: str | None, *, graded: bool) -> bool:
    """Return True for equal answers; 3 and 3.0 are one number."""
    return old == new or (graded and old is not None and new is not None and float(old) == float(new))


def _always_right(replicates: Sequence[BootstrapReplicates], resamples: Resamples) -> Measure:
    first = replicates[0]
    # The loss of a score is its negative value.
    least = -1.0 if first.scored and first.better == "high" else 0.0
    rows = zip(*(cell.errors for cell in replicates), strict=True)
    right = [all(error == least for error in errors) for errors in rows]
    return _share("always_right", right, resamples, first.questions)


def _gaps(twins: Mapping[str, BootstrapReplicates], added: Mapping[str, Perturbation] | None) -> tuple[Gap, ...]:
    """The gap between any two groups of an axis, in the order of their names."""
    groups = {name: parse_perturbation(name, added).group for name in sorted(twins)}
    return tuple(
        Gap(axis=first.axis, old=old, new=new, change=paired_change(twins[new], twins[old], quotient=False))
        for (old, first), (new, second) in combinations(groups.items(), 2)
        if first is not None and second is not None and first.axis == second.axis
    )


def _share(metric: str, hits: Sequence[bool], resamples: Resamples, questions: Sequence[int]) -> Measure:
    """A share of the rows, with the interval of a proportion, by units if rows share some."""
    statistic = proportion(metric, np.array(hits, dtype=np.bool_), np.ones(len(hits), dtype=np.bool_), better="neither")
    return measure([statistic], resamples, questions=questions)[0]
