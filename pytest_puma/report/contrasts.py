"""The comparison table of `--puma-compare`, for the terminal and for Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import CellId, Contrast
from pytest_puma.report import table
from pytest_puma.report.rows import interval
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="cell", leaves=4, heads="{}"),
    Column(title="against", names=True),
    Column(title="metric", names=True),
    Column(title="change", right=True),
    Column(title="95 % interval"),
    Column(title="worse", right=True, leaves=5, trails="{} worse"),
    Column(title="better", right=True, leaves=6, trails="{} better"),
    Column(title="test", leaves=2, trails="{}"),
    Column(title="p", right=True, leaves=3, trails="p {}"),
    Column(title="Holm", right=True),
    Column(title="effect (+ better)", right=True, leaves=1, trails="effect {}"),
)
HEADERS = tuple(column.title for column in COLUMNS)
_MIN_P = 0.001
#: The note below a table with a star behind an interval.
APPROXIMATE = "* few samples, or few changed samples: the interval is approximate"


def lines(contrasts: Sequence[Contrast], width: int) -> list[str]:
    """Return a row for each contrast, in `width` columns of a terminal; nothing if nothing was compared."""
    if not contrasts:
        return []
    approximate = any(contrast.change.approximate for contrast in contrasts)
    return [
        *table.lines(COLUMNS, rows(contrasts), width),
        *([APPROXIMATE] if approximate else []),
    ]


def rows(contrasts: Sequence[Contrast]) -> list[tuple[str, ...]]:
    """Return the rows under `HEADERS`; `against` shows only what differs from the cell."""
    return [
        (
            contrast.cell,
            _short(contrast),
            contrast.change.metric,
            "-" if math.isnan(contrast.change.value) else f"{contrast.change.value:+.3g}",
            f"{interval(contrast.change)}{'*' if contrast.change.approximate else ''}",
            str(contrast.change.worse),
            str(contrast.change.better),
            contrast.test,
            p_value(contrast.p),
            p_value(contrast.adjusted),
            f"{contrast.rank_biserial:+.2f}",
        )
        for contrast in contrasts
    ]


def _short(contrast: Contrast) -> str:
    """Return the strategy or the model, whichever differs; for a baseline its name."""
    cell, other = CellId.parse(contrast.cell), CellId.parse(contrast.against)
    if not other.model or not other.strategy:
        return contrast.against
    if cell.model == other.model:
        return other.shown
    return f"@{other.model}" if cell.without("model") == other.without("model") else contrast.against


def p_value(value: float) -> str:
    """Format a p-value with three decimals."""
    return f"under {_MIN_P}" if value < _MIN_P else f"{value:.3f}"
