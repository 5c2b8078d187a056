"""The tables of perturbations and of contrasts: the texts of the terminal, with each change drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Change, Contrast, Robustness
from pytest_puma.report import contrasts, robustness
from pytest_puma.report.page.changes import change_label, change_scales, kind_of
from pytest_puma.report.page.scale import Drawing, draw
from pytest_puma.report.table import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A row: the texts of the terminal, and the drawing of its change."""

    cell: str
    texts: tuple[str, ...]
    drawing: Drawing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table of the terminal without the columns that name the cell."""

    columns: tuple[Column, ...]
    lines: tuple[TextLine, ...]

    @property
    def drawing_column(self) -> int:
        """The index of the column before which the drawings stand: that of the first interval."""
        return [column.title for column in self.columns].index("95 % interval")


def shift_table(results: Sequence[Robustness]) -> TextTable:
    """Return the table of changes by perturbations."""
    shifts = [(each.cell, shift.change) for each in results for shift in each.shifts]
    return _text_table(robustness.COLUMNS, robustness.rows(results), shifts, named=3)


def contrast_table(results: Sequence[Contrast]) -> TextTable:
    """Return the table of contrasts between cells."""
    return _text_table(
        contrasts.COLUMNS, contrasts.rows(results), [(each.cell, each.change) for each in results], named=1
    )


def _text_table(
    columns: Sequence[Column],
    rows: Sequence[tuple[str, ...]],
    changes: Sequence[tuple[str, Change]],
    *,
    named: int,
) -> TextTable:
    """The table of these rows; the first `named` columns name the cell."""
    scales = change_scales(change for _, change in changes)
    return TextTable(
        columns=tuple(columns[named:]),
        lines=tuple(
            TextLine(
                cell=cell,
                texts=texts[named:],
                drawing=draw(scales[kind_of(change)], change, change_label(change), zero=0.0),
            )
            for (cell, change), texts in zip(changes, rows, strict=True)
        ),
    )
