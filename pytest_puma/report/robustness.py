"""The effect of perturbations as a table and as sentences, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_puma.core import Gap, Robustness, Run, Shift
from pytest_puma.report import table
from pytest_puma.report.contrasts import APPROXIMATE, p_value
from pytest_puma.report.rows import interval, number, signed
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="scenario", leaves=6, heads="{}"),
    Column(title="strategy", leaves=7, heads="{}"),
    Column(title="model", leaves=5, heads="{}"),
    Column(title="perturbation", names=True),
    Column(title="metric", leaves=9, trails="{}"),
    Column(title="value", right=True, leaves=8, trails="value {}"),
    Column(title="change", right=True),
    Column(title="95 % interval"),
    Column(title="Holm", right=True, leaves=10, trails="Holm {}"),
    Column(title="flips", right=True),
    Column(title="95 % interval", leaves=4, trails="flips in {}"),
    Column(title="fixed", right=True, leaves=2, trails="{} fixed"),
    Column(title="broken", right=True, leaves=3, trails="{} broken"),
    Column(title="still wrong", right=True, leaves=1, trails="{} still wrong"),
)
#: Maximum p-value of a significant change.
SIGNIFICANCE_LEVEL = 0.05
HEADERS = tuple(column.title for column in COLUMNS)


def lines(robustness: Sequence[Robustness], width: int) -> list[str]:
    """Return a row for each perturbation of a cell; below, the worst case and the gaps of each cell."""
    if not robustness:
        return []
    shifts = [shift for result in robustness for shift in result.shifts]
    approximate = any(shift.change.approximate or shift.answer_changes.rate.note for shift in shifts)
    note = [APPROXIMATE] if approximate else []
    return [*table.lines(COLUMNS, rows(robustness), width), *note, *sentences(robustness)]


def rows(robustness: Sequence[Robustness]) -> list[tuple[str, ...]]:
    """Return the rows under `HEADERS`: the change of the metric, the changed answers, and what they changed to."""
    return [
        (*(("", "", "") if index else (result.scenario, result.strategy, result.model)), *_row(shift))
        for result in robustness
        for index, shift in enumerate(result.shifts)
    ]


def not_run(run: Run) -> list[str]:
    """Return a line for each perturbed cell that was not run because no prompt changed."""
    return [f"not run: {why}" for why in run.unchanged]


def sentences(robustness: Sequence[Robustness]) -> list[str]:
    """Return sentences such as `worst: triage-zero_shot@q: f1_macro is 0.41 under case_upper, 0.62 without; ...`."""
    return [sentence for result in robustness for sentence in _sentences(result)]


def _sentences(result: Robustness) -> Iterator[str]:
    if result.worst is not None:
        values = f"{result.metric} is {number(result.worst_value)} under {result.worst}, {number(result.value)} without"
        right = result.always_right
        always = "" if right is None else f"; {right.value:.0%} {interval(right)} of n={right.n} are right under all"
        yield f"worst: {result.cell}: {values}{_corrected(result)}{_significant(result)}{always}"
    for gap in result.gaps:
        yield f"gap: {result.cell}: {_gap(gap)}"


def _corrected(result: Robustness) -> str:
    """Return the bias-corrected worst value; with one perturbation there is no selection bias."""
    if len(result.shifts) == 1:
        return ""
    return f" ({number(result.worst_corrected)} corrected for choosing the worst of {len(result.shifts)})"


def _significant(result: Robustness) -> str:
    """Count the perturbations with a significant change."""
    significant = [shift for shift in result.shifts if shift.adjusted < SIGNIFICANCE_LEVEL]
    return f"; significant changes (Holm): {len(significant)} of {len(result.shifts)}"


def _gap(gap: Gap) -> str:
    change = gap.change
    difference = f"{change.metric} of {gap.new} minus that of {gap.old} is {signed(change.value)} {interval(change)}"
    return f"{gap.axis}: {difference} n={change.n}"


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
