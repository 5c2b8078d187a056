"""The tables of perturbations and of contrasts: the texts of the terminal, with each change drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pytest_puma.core import CellId, Change, Contrast, Robustness
from pytest_puma.report import contrasts, robustness
from pytest_puma.report.page.changes import change_label, change_scales, kind_of
from pytest_puma.report.page.scale import Drawing, draw
from pytest_puma.report.table import Column

#: The columns of the terminal that name a perturbed cell.
_NAMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A row: the texts of the terminal, and the drawing of its change. `only`: the cell has no other row."""

    cell: str
    texts: tuple[str, ...]
    drawing: Drawing | None
    only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of the terminal without the columns that name the cell."""

    columns: tuple[Column, ...]
    lines: tuple[TextLine, ...]

    @property
    def drawing_column(self) -> int:
        """The index of the column before which the drawings stand: that of the first interval."""
        return [column.title for column in self.columns].index("95 % interval")


def shift_table(results: Sequence[Robustness], rows_elsewhere: Collection[str]) -> TextTable:
    """Return the table of changes by perturbations; `rows_elsewhere`: the cells with a row in another table."""
    shifts = [
        (str(CellId(each.scenario, each.strategy, each.model, shift.perturbation)), shift.change)
        for each in results
        for shift in each.shifts
    ]
    table = _text_table(robustness.COLUMNS[_NAMES:], [row[_NAMES:] for row in robustness.rows(results)], shifts)
    lines = (replace(line, only=line.cell not in rows_elsewhere) for line in table.lines)
    return replace(table, lines=tuple(lines))


def contrast_table(results: Sequence[Contrast]) -> TextTable:
    """Return the table of contrasts between cells."""
    rows = [row[1:] for row in contrasts.rows(results)]
    return _text_table(contrasts.COLUMNS[1:], rows, [(each.cell, each.change) for each in results])


def _text_table(
    columns: Sequence[Column], rows: Sequence[tuple[str, ...]], changes: Sequence[tuple[str, Change]]
) -> TextTable:
    scales = change_scales(change for _, change in changes)
    return TextTable(
        columns=tuple(columns),
        lines=tuple(
            TextLine(
                cell=cell, texts=texts, drawing=draw(scales[kind_of(change)], change, change_label(change), zero=0.0)
            )
            for (cell, change), texts in zip(changes, rows, strict=True)
        ),
    )
