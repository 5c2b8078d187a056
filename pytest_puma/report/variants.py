"""The effect of the variants of a model as a table and as sentences, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_puma.core import Run, Shift, Shifts
from pytest_puma.core.variant import PLUS
from pytest_puma.phrases import named
from pytest_puma.report import table
from pytest_puma.report.comparison import APPROXIMATE
from pytest_puma.report.robustness import NAMES, SHIFTS, SIGNIFICANCE_LEVEL
from pytest_puma.report.table import TextColumn

_SHIFTS: tuple[TextColumn[Shift], ...] = (
    TextColumn("variant", lambda shift: shift.perturbation, names=True),
    *SHIFTS[1:],
)
COLUMNS: tuple[TextColumn[Any], ...] = (*NAMES, *_SHIFTS)
#: The names below the first row of a cell.
_REPEATED = ("",) * len(NAMES)


def lines(run: Run, width: int) -> list[str]:
    """Return a row for each variant of a cell, and the sentences below; nothing without variants."""
    shifts = [shift for result in run.variants for shift in result.shifts]
    approximate = any(shift.change.approximate or shift.answer_changes.rate.note for shift in shifts)
    shown = table.lines(COLUMNS, rows(run.variants), width) if shifts else []
    return [*shown, *([APPROXIMATE] if approximate else []), *sentences(run)]


def rows(variants: Sequence[Shifts]) -> list[tuple[str, ...]]:
    """Return the rows under `COLUMNS`: the change of the metric, the changed answers, and what they changed to."""
    return [
        (*(_REPEATED if index else table.texts(NAMES, result)), *table.texts(_SHIFTS, shift))
        for result in variants
        for index, shift in enumerate(result.shifts)
    ]


def sentences(run: Run) -> list[str]:
    """Return where each variant is surely worse or better than the plain model, and which lacks a plain model.

    q+polite-4-L10: worse than q in 1 of 3 cells (triage_jira-zero_shot), better in none
    """
    pairs = dict.fromkeys((result.model, shift.perturbation) for result in run.variants for shift in result.shifts)
    effects = [_effect(run, *pair) for pair in pairs]
    compared = {f"{model}{PLUS}{variant}" for model, variant in pairs}
    models = dict.fromkeys(outcome.name.model for outcome in run.outcomes if outcome.name.variant is not None)
    missing = [model for model in models if model not in compared]
    advice = "to compare with the plain model, add 0 to the list, as in steer=polite.gguf:0/4/8"
    return [*filter(None, effects), *([f"{named(missing)}: {advice}"] if missing else [])]


def _effect(run: Run, model: str, variant: str) -> str:
    """The sentence on a variant in several cells; empty for one, whose row says as much."""
    better = {
        outcome.cell: outcome.measures[outcome.primary].better
        for outcome in run.outcomes
        if outcome.primary in outcome.measures
    }
    shifts = {
        result: shift
        for result in run.variants
        for shift in result.shifts
        if (result.model, shift.perturbation) == (model, variant)
    }
    if len(shifts) == 1:
        return ""
    sure = {result: shift.change for result, shift in shifts.items() if shift.adjusted < SIGNIFICANCE_LEVEL}
    rising = {result for result, change in sure.items() if change.new > change.old}
    worse = [result for result in sure if (result in rising) == (better[result.cell] == "low")]
    where = f" ({named([f'{result.scenario}-{result.strategy}' for result in worse])})" if worse else ""
    losses, gains = (count or "none" for count in (len(worse), len(sure) - len(worse)))
    return f"{model}{PLUS}{variant}: worse than {model} in {losses} of {len(shifts)} cells{where}, better in {gains}"
