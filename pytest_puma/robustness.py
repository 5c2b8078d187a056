"""What perturbations do to the cells of a run: each against its twin on the same samples as they are, pair by pair."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from pytest_puma.core import Draws, Gap, Measure, Outcome, Robustness, Shift, Turns
from pytest_puma.metrics import between, contrast
from pytest_puma.metrics.measuring import measure
from pytest_puma.metrics.statistic import proportion
from pytest_puma.perturbations import Perturbation, parse_perturbation
from pytest_puma.stats import Resamples, holm
from pytest_puma.stats.selection import select

#: Metrics of which less is better, as their names tell; of all others more is.
_BETTER_LOW = re.compile(r"(mae|mdae|rmse|ece|mce|brier|outside|latency|tokens)(_.*|\..*)?|.*_(rate|error)")


def robustness(outcomes: Sequence[Outcome], own: Mapping[str, Perturbation] | None = None) -> tuple[Robustness, ...]:
    """Of every cell with perturbed twins, in the cells' order; `own` are the perturbations of plugins, by name.

    A twin that was not asked the same samples, or whose answers do not give the metric, is left out.
    """
    found = []
    for outcome in outcomes:
        drawn = outcome.draws.get(outcome.primary)
        twins = {} if drawn is None or outcome.perturbation is not None else _twins(outcome, drawn, outcomes)
        if drawn is not None and twins:
            found.append(_robustness(outcome, drawn, twins, own))
    return tuple(found)


def _twins(outcome: Outcome, drawn: Draws, outcomes: Iterable[Outcome]) -> dict[str, Draws]:
    names = (outcome.scenario, outcome.strategy, outcome.model)
    others = (each for each in outcomes if (each.scenario, each.strategy, each.model) == names)
    known = ((each.perturbation, each.draws.get(drawn.metric)) for each in others)
    return {name: twin for name, twin in known if name and twin is not None and twin.samples == drawn.samples}


def _robustness(
    outcome: Outcome, drawn: Draws, twins: Mapping[str, Draws], own: Mapping[str, Perturbation] | None
) -> Robustness:
    known = {name: twin for name, twin in twins.items() if not math.isnan(twin.value)}
    worst, observed, corrected = _worst(known, greatest=_BETTER_LOW.fullmatch(drawn.metric) is not None)
    resamples = Resamples(drawn.units or [()] * len(drawn.answers), seed=drawn.seed)
    return Robustness(
        cell=outcome.cell,
        scenario=outcome.scenario,
        strategy=outcome.strategy,
        model=outcome.model,
        metric=drawn.metric,
        value=drawn.value,
        shifts=_shifts(drawn, twins, resamples),
        worst=worst,
        worst_value=observed,
        worst_corrected=corrected,
        always_right=None if drawn.numbers else _always_right([drawn, *twins.values()], resamples),
        gaps=_gaps(twins, own),
    )


def _worst(twins: Mapping[str, Draws], *, greatest: bool) -> tuple[str | None, float, float]:
    """The name of the worst, its value, and that without the bias of the choice."""
    if not twins:
        return None, math.nan, math.nan
    names, drawn = list(twins), list(twins.values())
    found = select([each.value for each in drawn], [each.values for each in drawn], greatest=greatest)
    return names[found.place], drawn[found.place].value, found.value


def _shifts(clean: Draws, twins: Mapping[str, Draws], resamples: Resamples) -> tuple[Shift, ...]:
    """One for each perturbation, their p-values adjusted for all of them together."""
    found = [contrast(name, "", twin, clean, seed=clean.seed) for name, twin in twins.items()]
    adjusted = holm([each.p for each in found])
    return tuple(
        Shift(
            perturbation=each.cell,
            change=each.change,
            turns=_turns(clean, twins[each.cell], resamples),
            test=each.test,
            p=each.p,
            adjusted=p,
        )
        for each, p in zip(found, adjusted, strict=True)
    )


def _turns(clean: Draws, twin: Draws, resamples: Resamples) -> Turns:
    answers = zip(clean.answers, twin.answers, strict=True)
    turned = [not _same_answer(old, new, numbers=clean.numbers) for old, new in answers]
    sides = zip(clean.errors, twin.errors, turned, strict=True)
    became = [(not was, not now) for was, now, flip in sides if flip]
    return Turns(
        rate=_share("flip_rate", turned, resamples),
        to_correct=became.count((False, True)),
        to_incorrect=became.count((True, False)),
        between_incorrect=became.count((False, False)),
    )


def _same_answer(old: str | None, new: str | None, *, numbers: bool) -> bool:
    """3 and 3.0 are one number."""
    return old == new or (numbers and old is not None and new is not None and float(old) == float(new))


def _always_right(drawn: Sequence[Draws], resamples: Resamples) -> Measure:
    rows = zip(*(each.errors for each in drawn), strict=True)
    return _share("always_right", [not any(errors) for errors in rows], resamples)


def _gaps(twins: Mapping[str, Draws], own: Mapping[str, Perturbation] | None) -> tuple[Gap, ...]:
    """Between any two sides of an axis, in the order of their names, whatever order they were asked for in."""
    groups = {name: parse_perturbation(name, own).group for name in sorted(twins)}
    return tuple(
        Gap(axis=one.axis, old=old, new=new, change=between(twins[new], twins[old], quotient=False))
        for (old, one), (new, other) in combinations(groups.items(), 2)
        if one is not None and other is not None and one.axis == other.axis
    )


def _share(metric: str, hits: Sequence[bool], resamples: Resamples) -> Measure:
    """A share of the rows, with the interval of any proportion: of units, where rows share some."""
    found = proportion(metric, np.array(hits, dtype=np.bool_), np.ones(len(hits), dtype=np.bool_))
    return measure([found], resamples)[0]
