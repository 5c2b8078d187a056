"""The changes of metrics since a baseline or another run, by perturbations and between cells, each one drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_puma.core import CellId, Change, Contrast, Direction, Flip, Gate, Outcome, Robustness, Run, Shift, Verdict
from pytest_puma.report import comparison, robustness
from pytest_puma.report.page.drawings import Drawing, Scale, draw
from pytest_puma.report.rows import number, signed
from pytest_puma.report.table import TextColumn, texts
from pytest_puma.runs.comparison import RunComparison

Result = TypeVar("Result", Contrast, Shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A comparison by cell: the `changes` of metrics, the `flips`, and what else has `changed`, in sentences.

    `name`: of the other side, as sentences name it. `judged`: the gates of the run are about it.
    """

    name: str
    judged: bool = False
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    flips: Mapping[str, tuple[Flip, ...]] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def against_baseline(run: Run) -> Against | None:
    """Return the comparison with the baseline that the run made itself; None if it compared no cell."""
    changes = {outcome.cell: tuple(_changes(outcome, run)) for outcome in run.outcomes}
    flips = {outcome.cell: outcome.flips for outcome in run.outcomes if outcome.flips}
    changes = {cell: of_cell for cell, of_cell in changes.items() if of_cell}
    return Against(name="the baseline", judged=True, changes=changes, flips=flips) if changes or flips else None


def against_run(compared: RunComparison) -> Against:
    """Return the comparison with another run, or with baselines of today."""
    cells = compared.cells
    return Against(
        name=compared.old,
        changes={cell.cell: tuple(contrast.change for contrast in cell.contrasts) for cell in cells},
        flips={cell.cell: cell.flips for cell in cells},
        changed={cell.cell: cell.differs for cell in cells},
    )


def is_change(verdict: Verdict) -> bool:
    """Whether a verdict is about the change since the baseline."""
    return verdict.change is not None and verdict.gate.naive is None and not verdict.gate.is_cross_cell


def _changes(outcome: Outcome, run: Run) -> Iterator[Change]:
    """The changes of a cell, each metric once, that of the primary metric first."""
    of_gates = [each.change for each in outcome.verdicts if each.change is not None and is_change(each)]
    of_contrasts = [each.change for each in run.contrasts if each.cell == outcome.cell and _is_baseline(each.against)]
    by_metric = {(each.metric, each.quotient): each for each in (*of_contrasts, *of_gates)}
    return iter(sorted(by_metric.values(), key=lambda change: (change.metric != outcome.primary, change.quotient)))


def _is_baseline(name: str) -> bool:
    """Whether a contrast names a baseline, not a cell."""
    return not CellId.parse(name).strategy or not CellId.parse(name).model


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """A change of a metric of a cell; `effect`: `better` or `worse` if the interval excludes no change."""

    cell: str
    gate: str
    change: Change
    difference: str
    effect: str
    status: str
    drawing: Drawing | None


def change_lines(run: Run, against: Against) -> Iterator[ChangeLine]:
    """Yield a line for each gate on a change, and for that of the primary metric if no gate is about it."""
    lines: list[tuple[Outcome, Gate | None, Change, str]] = []
    for outcome in run.outcomes:
        judged = [each for each in outcome.verdicts if against.judged and is_change(each)]
        kinds = {kind_of(each.change) for each in judged if each.change is not None}
        lines += [(outcome, each.gate, each.change, each.status) for each in judged if each.change is not None]
        others = [each for each in against.changes.get(outcome.cell, ()) if each.metric == outcome.primary]
        lines += [(outcome, None, each, "") for each in others if kind_of(each) not in kinds]
    scales = change_scales(change for _, _, change, _ in lines)
    for outcome, gate, change, status in lines:
        better = outcome.measures[change.metric].better if change.metric in outcome.measures else "neither"
        none = 1.0 if change.quotient else 0.0
        yield ChangeLine(
            cell=outcome.cell,
            gate="" if gate is None else str(gate),
            change=change,
            difference=f"x {number(change.value)}" if change.quotient else signed(change.value),
            effect=_effect(change, better, none),
            status=status,
            drawing=draw(scales[kind_of(change)], change, change_label(change), zero=none),
        )


def change_scales(changes: Iterable[Change]) -> dict[tuple[str, bool], Scale]:
    """Return a scale for each kind of change, with the place of no change on it."""
    numbers: dict[tuple[str, bool], list[float]] = {}
    for each in changes:
        none = 1.0 if each.quotient else 0.0
        numbers.setdefault(kind_of(each), [none]).extend((each.value, each.low, each.high))
    return {kind: Scale.over(values) for kind, values in numbers.items()}


def kind_of(change: Change) -> tuple[str, bool]:
    """Return the metric, and whether the change is a quotient: changes of one kind share a scale."""
    return change.metric, change.quotient


def change_label(change: Change) -> str:
    """Return the numbers of a change, for readers who do not see the drawing."""
    limits = "" if math.isnan(change.low) else f", interval {signed(change.low)} to {signed(change.high)}"
    return f"{signed(change.value)}{limits}"


def _effect(change: Change, better: Direction, none: float) -> str:
    if better == "neither" or not (change.low > none or change.high < none):
        return ""
    return "better" if (change.low > none) == (better == "high") else "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A row: the texts of the terminal, and the drawing of its change. `only`: the cell has no other row."""

    cell: str
    texts: tuple[str, ...]
    drawing: Drawing | None
    only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of the terminal without the columns that name the cell."""

    columns: tuple[TextColumn[Any], ...]
    lines: tuple[TextLine, ...]

    @property
    def drawing_column(self) -> int:
        """The index of the column before which the drawings stand: that of the first interval."""
        return [column.title for column in self.columns].index("95 % interval")


def shift_table(results: Sequence[Robustness], rows_elsewhere: Collection[str]) -> TextTable:
    """Return the table of changes by perturbations; `rows_elsewhere`: the cells with a row in another table."""
    shifts = [
        (str(CellId(result.scenario, result.strategy, result.model, shift.perturbation)), shift)
        for result in results
        for shift in result.shifts
    ]
    return _text_table(robustness.SHIFTS[1:], shifts, rows_elsewhere)


def contrast_table(results: Sequence[Contrast]) -> TextTable:
    """Return the table of contrasts between cells."""
    contrasts = [(contrast.cell, contrast) for contrast in results]
    return _text_table(comparison.CONTRASTS[1:], contrasts, [contrast.cell for contrast in results])


def _text_table(
    columns: tuple[TextColumn[Result], ...], results: Sequence[tuple[str, Result]], rows_elsewhere: Collection[str]
) -> TextTable:
    scales = change_scales(result.change for _, result in results)
    lines = (
        TextLine(
            cell=cell,
            texts=texts(columns, result),
            drawing=draw(scales[kind_of(result.change)], result.change, change_label(result.change), zero=0.0),
            only=cell not in rows_elsewhere,
        )
        for cell, result in results
    )
    return TextTable(columns=columns, lines=tuple(lines))
