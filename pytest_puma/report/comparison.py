"""Tables of paired changes: between the cells of a run (`--puma-compare`), and between two runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pytest_puma.core import CellId, Change, Contrast
from pytest_puma.phrases import counted, named
from pytest_puma.report import table
from pytest_puma.report.rows import interval, number, p_value, signed
from pytest_puma.report.table import TextColumn
from pytest_puma.report.terminal import flip_lines
from pytest_puma.runs.comparison import CellComparison, RunComparison

#: The note below a table with a star behind an interval.
APPROXIMATE = "* few samples, or few changed samples: the interval is approximate"
_MAX_NAMED = 3


def starred_interval(change: Change) -> str:
    """Return the interval of a change, with a star if it is approximate."""
    return f"{interval(change)}{'*' if change.approximate else ''}"


def _against(contrast: Contrast) -> str:
    """Return the strategy or the model, whichever differs; for a baseline its name."""
    cell, against = CellId.parse(contrast.cell), CellId.parse(contrast.against)
    if not against.model or not against.strategy:
        return contrast.against
    if cell.model == against.model:
        return against.shown
    return f"@{against.model}" if cell.without("model") == against.without("model") else contrast.against


def _difference(contrast: Contrast) -> str:
    value = contrast.change.value
    return "-" if math.isnan(value) else f"{value:+.3g}"


CONTRASTS: tuple[TextColumn[Contrast], ...] = (
    TextColumn("cell", lambda contrast: contrast.cell, leaves=4, heads="{}"),
    TextColumn("against", _against, names=True),
    TextColumn("metric", lambda contrast: contrast.change.metric, names=True),
    TextColumn("change", _difference, right=True),
    TextColumn("95 % interval", lambda contrast: starred_interval(contrast.change)),
    TextColumn("worse", lambda contrast: str(contrast.change.worse), right=True, leaves=5, trails="{} worse"),
    TextColumn("better", lambda contrast: str(contrast.change.better), right=True, leaves=6, trails="{} better"),
    TextColumn("test", lambda contrast: contrast.test, leaves=2, trails="{}"),
    TextColumn("p", lambda contrast: p_value(contrast.p), right=True, leaves=3, trails="p {}"),
    TextColumn("Holm", lambda contrast: p_value(contrast.adjusted), right=True),
    TextColumn(
        "effect (+ better)", lambda contrast: f"{contrast.rank_biserial:+.2f}", right=True, leaves=1, trails="effect {}"
    ),
)
CHANGES: tuple[TextColumn[Contrast], ...] = (
    TextColumn("cell", lambda contrast: contrast.cell, leaves=5, heads="{}"),
    TextColumn("metric", lambda contrast: contrast.change.metric, names=True),
    TextColumn("n", lambda contrast: str(contrast.change.n), right=True, leaves=6, trails="n={}"),
    TextColumn("was", lambda contrast: number(contrast.change.old), right=True),
    TextColumn("is", lambda contrast: number(contrast.change.new), right=True),
    TextColumn("change", lambda contrast: signed(contrast.change.value), right=True),
    TextColumn("95 % interval", lambda contrast: starred_interval(contrast.change)),
    TextColumn("worse", lambda contrast: str(contrast.change.worse), right=True, leaves=4, trails="{} worse"),
    TextColumn("better", lambda contrast: str(contrast.change.better), right=True, leaves=3, trails="{} better"),
    TextColumn("test", lambda contrast: contrast.test, leaves=1, trails="{}"),
    TextColumn("p", lambda contrast: p_value(contrast.p), right=True, leaves=2, trails="p {}"),
    TextColumn("Holm", lambda contrast: p_value(contrast.adjusted), right=True),
)


def contrast_lines(contrasts: Sequence[Contrast], width: int) -> list[str]:
    """Return a row for each contrast, in `width` columns of a terminal; nothing if nothing was compared."""
    if not contrasts:
        return []
    return [*table.lines(CONTRASTS, contrast_rows(contrasts), width), *_note(contrasts)]


def contrast_rows(contrasts: Iterable[Contrast]) -> list[tuple[str, ...]]:
    """Return the rows under `CONTRASTS`; `against` shows only what differs from the cell."""
    return [table.texts(CONTRASTS, contrast) for contrast in contrasts]


def comparison_lines(comparison: RunComparison, width: int, *, flips: bool) -> list[str]:
    """Return the names of the runs, the table, the sentences below it, and the `flips` if they are requested."""
    rows = change_rows(comparison)
    shown = table.lines(CHANGES, rows, width) if rows else []
    changed = [line for cell in comparison.cells if flips for line in flip_lines(cell.cell, cell.flips)]
    return [title(comparison), *shown, *sentences(comparison), *changed]


def title(comparison: RunComparison) -> str:
    """Return the names of both runs."""
    return f"{comparison.new} against {comparison.old}"


def change_rows(comparison: RunComparison) -> list[tuple[str, ...]]:
    """Return the metrics with a change, under `CHANGES`."""
    return [row for cell in comparison.cells for row in _cell_rows(cell)]


def _cell_rows(cell: CellComparison) -> Iterator[tuple[str, ...]]:
    for contrast in cell.contrasts:
        if contrast.change.changed:
            yield table.texts(CHANGES, contrast)
    for values in cell.untested:
        if values.metric not in cell.unchanged:
            change = "" if values.old is None or values.new is None else signed(values.new - values.old)
            yield (cell.cell, values.metric, "", _value(values.old), _value(values.new), change, *[""] * 6)


def _value(value: float | None) -> str:
    return "-" if value is None else number(value)


def _note(contrasts: Iterable[Contrast]) -> list[str]:
    return [APPROXIMATE] if any(contrast.change.approximate for contrast in contrasts) else []


def sentences(comparison: RunComparison) -> list[str]:
    """Return the differences that are not in the table, as sentences."""
    both = f"{comparison.new} and {comparison.old}"
    if comparison.same:
        answers = "values" if any(cell.why for cell in comparison.cells) else "answers"
        return [f"no difference: {both} have the same {answers} in {counted(len(comparison.cells), 'cell')}"]
    cells = comparison.cells
    unchanged = ((cell.cell, [", ".join(cell.unchanged)]) for cell in cells if cell.unchanged and not cell.same)
    same = sum(cell.same for cell in cells)
    return [
        *_note(comparison.contrasts),
        *([f"{same} of {counted(len(cells), 'cell')} have the same answers in both runs"] if same else []),
        *(f"no difference: {where}: {metrics}" for metrics, where in _common(unchanged)),
        *_hidden(comparison),
        *(f"changed: {where}: {sentence}" for sentence, where in _common((c.cell, c.differs) for c in cells)),
        *(f"no test: {where}: {why}" for why, where in _common((c.cell, [c.why]) for c in cells if c.why)),
        *_only(
            f"only in {comparison.old}",
            comparison.only_old,
            [(c.against or c.cell, c.only_old, c.trials_old) for c in cells],
        ),
        *_only(f"only in {comparison.new}", comparison.only_new, [(c.cell, c.only_new, c.trials_new) for c in cells]),
    ]


def _hidden(comparison: RunComparison) -> Iterator[str]:
    """Yield the number of tests that p-values are adjusted for, if the table does not show all of them."""
    tests = len(comparison.contrasts)
    hidden = sum(not contrast.change.changed for contrast in comparison.contrasts)
    if 0 < hidden < tests:
        yield f"Holm: over {tests} tests, {hidden} of them without a difference"


def _common(cells: Iterable[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, str]]:
    """Yield each sentence once, with the cells that it is about."""
    by_sentence: dict[str, list[str]] = {}
    for cell, sentences in cells:
        for sentence in sentences:
            by_sentence.setdefault(sentence, []).append(cell)
    for sentence, names in by_sentence.items():
        yield sentence, named(names, 1)


def _only(
    where: str, cells: Sequence[str], answers: Sequence[tuple[str, Sequence[str], Sequence[str]]]
) -> Iterator[str]:
    """Yield the cells of one run alone, and for each cell of both the samples and the trials of one alone."""
    if cells:
        yield f"{where}: {counted(len(cells), 'cell')}: {named(cells, _MAX_NAMED)}"
    for cell, samples, trials in answers:
        of = "" if cell in where else f" of {cell}"
        if samples:
            yield f"{where}: {counted(len(samples), 'sample')}{of}: {named(samples, _MAX_NAMED)}"
        if trials:
            shared = counted(len(set(trials)), "sample")
            yield f"{where}: {counted(len(trials), 'trial')} of {shared}{of} that both have"
