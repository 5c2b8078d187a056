"""The comparison table, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_puma.core import CellId, Contrast
from pytest_puma.report import table
from pytest_puma.report.rows import interval
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="cell", leaves=4, heads=True),
    Column(title="against", names=True),
    Column(title="metric", names=True),
    Column(title="change", right=True),
    Column(title="95 % interval"),
    Column(title="worse", right=True, leaves=5),
    Column(title="better", right=True, leaves=6),
    Column(title="test", leaves=2),
    Column(title="p", right=True, leaves=3),
    Column(title="Holm", right=True),
    Column(title="effect (+ better)", right=True, leaves=1),
)
HEADERS = tuple(column.title for column in COLUMNS)
_LEAST = 0.001


def lines(found: Sequence[Contrast], width: int) -> list[str]:
    """A row for each contrast, in `width` columns of a terminal; nothing where nothing was compared."""
    if not found:
        return []
    rough = any(each.change.approximate for each in found)
    return [
        *table.lines(COLUMNS, rows(found), width),
        *(["* few samples, or few that changed: the interval is approximate"] if rough else []),
    ]


def rows(found: Sequence[Contrast]) -> list[tuple[str, ...]]:
    """The rows under `HEADERS`; what a cell shares with the one that it is held against is not said again."""
    return [
        (
            each.cell,
            _short(each),
            each.change.metric,
            f"{each.change.value:+.3g}",
            f"{interval(each.change)}{'*' if each.change.approximate else ''}",
            str(each.change.worse),
            str(each.change.better),
            each.test,
            p_value(each.p),
            p_value(each.adjusted),
            f"{each.rank_biserial:+.2f}",
        )
        for each in found
    ]


def _short(contrast: Contrast) -> str:
    """The strategy or the model, whichever differs; a baseline as it is called."""
    cell, other = CellId.parse(contrast.cell), CellId.parse(contrast.against)
    if not other.model or not other.strategy:
        return contrast.against
    if cell.model == other.model:
        return other.shown
    return f"@{other.model}" if cell.without("model") == other.without("model") else contrast.against


def p_value(value: float) -> str:
    """Three decimals."""
    return f"under {_LEAST}" if value < _LEAST else f"{value:.3f}"
