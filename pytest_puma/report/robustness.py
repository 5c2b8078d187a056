"""The effect of perturbations as a table and as sentences, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_puma.core import Gap, Robustness, Run, Shift, Shifts
from pytest_puma.report import table
from pytest_puma.report.comparison import APPROXIMATE, starred_interval
from pytest_puma.report.rows import interval, number, p_value, signed
from pytest_puma.report.table import TextColumn


def _share(shift: Shift, kind: str) -> str:
    """Return the share of the changed answers that are `fixed`, `broken` or `still_wrong`; a dash if none could be."""
    changes = shift.answer_changes
    # Where no answer was right, none could break: 0 % would look good.
    none_right = kind == "broken" and not changes.broken and shift.change.share and shift.change.old == 0
    return "-" if none_right or not changes.changed else f"{getattr(changes, kind) / changes.changed:.0%}"


def _flip_interval(shift: Shift) -> str:
    rate = shift.answer_changes.rate
    return f"{interval(rate)}{'*' if rate.note else ''}"


NAMES: tuple[TextColumn[Shifts], ...] = (
    TextColumn("scenario", lambda result: result.scenario, leaves=6, heads="{}"),
    TextColumn("strategy", lambda result: result.strategy, leaves=7, heads="{}"),
    TextColumn("model", lambda result: result.model, leaves=5, heads="{}"),
)
SHIFTS: tuple[TextColumn[Shift], ...] = (
    TextColumn("perturbation", lambda shift: shift.perturbation, names=True),
    TextColumn("metric", lambda shift: shift.change.metric, leaves=9, trails="{}"),
    TextColumn("value", lambda shift: number(shift.change.new), right=True, leaves=8, trails="value {}"),
    TextColumn("change", lambda shift: signed(shift.change.value), right=True),
    TextColumn("95 % interval", lambda shift: starred_interval(shift.change)),
    TextColumn("Holm", lambda shift: p_value(shift.adjusted), right=True, leaves=10, trails="Holm {}"),
    TextColumn("flips", lambda shift: f"{shift.answer_changes.rate.value:.0%}", right=True),
    TextColumn("95 % interval", _flip_interval, leaves=4, trails="flips in {}"),
    TextColumn("fixed", lambda shift: _share(shift, "fixed"), right=True, leaves=2, trails="{} fixed"),
    TextColumn("broken", lambda shift: _share(shift, "broken"), right=True, leaves=3, trails="{} broken"),
    TextColumn(
        "still wrong", lambda shift: _share(shift, "still_wrong"), right=True, leaves=1, trails="{} still wrong"
    ),
)
COLUMNS: tuple[TextColumn[Any], ...] = (*NAMES, *SHIFTS)
#: Maximum p-value of a significant change.
SIGNIFICANCE_LEVEL = 0.05
#: The names below the first row of a cell.
_REPEATED = ("",) * len(NAMES)


def title(run: Run) -> str:
    """Return the title of these lines: without perturbations, they are about cells that were not run."""
    return "perturbations" if run.robustness else "not run"


def lines(run: Run, width: int) -> list[str]:
    """Return a row for each perturbation of a cell, and the sentences below."""
    if not run.robustness:
        return sentences(run)
    shifts = [shift for result in run.robustness for shift in result.shifts]
    approximate = any(shift.change.approximate or shift.answer_changes.rate.note for shift in shifts)
    note = [APPROXIMATE] if approximate else []
    return [*table.lines(COLUMNS, rows(run.robustness), width), *note, *sentences(run)]


def rows(robustness: Sequence[Robustness]) -> list[tuple[str, ...]]:
    """Return the rows under `COLUMNS`: the change of the metric, the changed answers, and what they changed to."""
    return [
        (*(_REPEATED if index else table.texts(NAMES, result)), *table.texts(SHIFTS, shift))
        for result in robustness
        for index, shift in enumerate(result.shifts)
    ]


def sentences(run: Run) -> list[str]:
    """Return the worst case and the gaps of each cell, and the cells that were not run.

    worst: triage-zero_shot@q: f1_macro is 0.41 under case_upper, 0.62 without; ...
    """
    not_run = [f"not run: {why}" for why in run.unchanged]
    return [*(sentence for result in run.robustness for sentence in _sentences(result)), *not_run]


def _sentences(result: Robustness) -> Iterator[str]:
    if result.worst is not None:
        values = f"{result.metric} is {number(result.worst_value)} under {result.worst}, {number(result.value)} without"
        right = result.always_right
        always = "" if right is None else f"; {right.value:.0%} {interval(right)} of n={right.n} are right under all"
        significant, count = sum(shift.adjusted < SIGNIFICANCE_LEVEL for shift in result.shifts), len(result.shifts)
        corrected = f" ({number(result.worst_corrected)} corrected for choosing the worst of {count})"
        tests = f"; significant changes (Holm): {significant} of {count}"
        # With one perturbation there is no selection bias.
        yield f"worst: {result.cell}: {values}{corrected if count > 1 else ''}{tests}{always}"
    for gap in result.gaps:
        yield f"gap: {result.cell}: {_gap(gap)}"


def _gap(gap: Gap) -> str:
    change = gap.change
    difference = f"{change.metric} of {gap.new} minus that of {gap.old} is {signed(change.value)} {interval(change)}"
    return f"{gap.axis}: {difference} n={change.n}"
