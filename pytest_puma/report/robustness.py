"""What perturbations did to the cells, as a table and as sentences, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_puma.core import Gap, Robustness, Run, Shift
from pytest_puma.report import table
from pytest_puma.report.contrasts import p_value
from pytest_puma.report.rows import interval, number, signed
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="scenario", leaves=6, heads=True),
    Column(title="strategy", leaves=7, heads=True),
    Column(title="model", leaves=5, heads=True),
    Column(title="perturbation", names=True),
    Column(title="metric", leaves=9),
    Column(title="value", right=True, leaves=8),
    Column(title="change", right=True),
    Column(title="95 % interval"),
    Column(title="Holm", right=True, leaves=10),
    Column(title="flips", right=True),
    Column(title="95 % interval", leaves=4),
    Column(title="to right", right=True, leaves=2),
    Column(title="to wrong", right=True, leaves=3),
    Column(title="stay wrong", right=True, leaves=1),
)
#: A p-value under which a change is told as significant.
SIGNIFICANT = 0.05
HEADERS = tuple(column.title for column in COLUMNS)


def lines(found: Sequence[Robustness], width: int) -> list[str]:
    """A row for each perturbation of a cell; below, each cell's worst case and its gaps between groups of people."""
    if not found:
        return []
    rough = any(shift.change.approximate or shift.answer_changes.rate.note for each in found for shift in each.shifts)
    note = ["* few samples, or few that changed: the interval is approximate"] if rough else []
    return [*table.lines(COLUMNS, rows(found), width), *note, *sentences(found)]


def rows(found: Sequence[Robustness]) -> list[tuple[str, ...]]:
    """The rows under `HEADERS`: how far the metric moved, how many answers changed, and what became of those."""
    return [
        (*(("", "", "") if place else (each.scenario, each.strategy, each.model)), *_row(shift))
        for each in found
        for place, shift in enumerate(each.shifts)
    ]


def not_run(run: Run) -> list[str]:
    """The perturbed cells that were not asked, as they would have been asked the same."""
    return [f"not run: {why}" for why in run.unchanged]


def sentences(found: Sequence[Robustness]) -> list[str]:
    """`worst: triage_jira-zero_shot@q: f1_macro is 0.41 under case_upper, 0.62 as it is; ...`, and so on."""
    return [sentence for each in found for sentence in _sentences(each)]


def _sentences(each: Robustness) -> Iterator[str]:
    if each.worst is not None:
        fell = f"{each.metric} is {number(each.worst_value)} under {each.worst}, {number(each.value)} without"
        right = each.always_right
        always = "" if right is None else f"; {right.value:.0%} {interval(right)} of n={right.n} are right under all"
        yield f"worst: {each.cell}: {fell}{_corrected(each)}{_significant(each)}{always}"
    for gap in each.gaps:
        yield f"gap: {each.cell}: {_gap(gap)}"


def _corrected(each: Robustness) -> str:
    """Said where there was a choice: the worst of several measured numbers is too bad."""
    if len(each.shifts) == 1:
        return ""
    return f" ({number(each.worst_corrected)} corrected for choosing the worst of {len(each.shifts)})"


def _significant(each: Robustness) -> str:
    """How many perturbations change the metric, as far as the samples can tell."""
    found = [shift for shift in each.shifts if shift.adjusted < SIGNIFICANT]
    return f"; significant changes (Holm): {len(found)} of {len(each.shifts)}"


def _gap(gap: Gap) -> str:
    change = gap.change
    moved = f"{change.metric} of {gap.new} less that of {gap.old} is {signed(change.value)} {interval(change)}"
    return f"{gap.axis}: {moved} n={change.n}"


def _row(shift: Shift) -> tuple[str, ...]:
    change, changes = shift.change, shift.answer_changes
    counts = (changes.fixed, changes.broken, changes.still_wrong)
    return (
        shift.perturbation,
        change.metric,
        number(change.new),
        signed(change.value),
        f"{interval(change)}{'*' if change.approximate else ''}",
        p_value(shift.adjusted),
        f"{changes.rate.value:.0%}",
        f"{interval(changes.rate)}{'*' if changes.rate.note else ''}",
        *(f"{count / changes.changed:.0%}" if changes.changed else "-" for count in counts),
    )
