"""The comparison of two runs, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_puma.core import Contrast
from pytest_puma.phrases import counted, named
from pytest_puma.report import escape, table
from pytest_puma.report.contrasts import APPROXIMATE, p_value
from pytest_puma.report.markdown import folded, github_table
from pytest_puma.report.rows import interval, number, signed
from pytest_puma.report.table import Column
from pytest_puma.report.terminal import flip_lines
from pytest_puma.runs.comparison import CellComparison, RunComparison

COLUMNS = (
    Column(title="cell", leaves=5, heads="{}"),
    Column(title="metric", names=True),
    Column(title="n", right=True, leaves=6),
    Column(title="was", right=True),
    Column(title="is", right=True),
    Column(title="change", right=True),
    Column(title="95 % interval"),
    Column(title="worse", right=True, leaves=4),
    Column(title="better", right=True, leaves=3),
    Column(title="test", leaves=1),
    Column(title="p", right=True, leaves=2),
    Column(title="Holm", right=True),
)
HEADERS = tuple(column.title for column in COLUMNS)
_MAX_NAMED = 3


def lines(comparison: RunComparison, width: int, *, flips: bool) -> list[str]:
    """Return the names of the runs, the table, the sentences below it, and the `flips` if they are requested."""
    rows = _rows(comparison)
    shown = table.lines(COLUMNS, rows, width) if rows else []
    changed = [line for cell in comparison.cells if flips for line in flip_lines(cell.cell, cell.flips)]
    return [_title(comparison), *shown, *_sentences(comparison), *changed]


def as_markdown(comparison: RunComparison, *, flips: bool) -> str:
    """Return a heading, the table, a list of sentences, and the `flips` folded up if they are requested."""
    rows = _rows(comparison)
    parts = [
        f"### puma: {escape.markdown(_title(comparison))}",
        github_table(rows, HEADERS) if rows else "",
        "\n".join(f"- {escape.markdown(sentence)}" for sentence in _sentences(comparison)),
        *(folded(cell.cell, cell.flips) for cell in comparison.cells if flips),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _title(comparison: RunComparison) -> str:
    return f"{comparison.new} against {comparison.old}"


def _rows(comparison: RunComparison) -> list[tuple[str, ...]]:
    """The metrics with a change, under `COLUMNS`."""
    tested = [(cell, [contrast for contrast in cell.contrasts if contrast.change.changed]) for cell in comparison.cells]
    return [row for cell, contrasts in tested for row in [*map(_tested, contrasts), *_untested(cell)]]


def _tested(contrast: Contrast) -> tuple[str, ...]:
    change = contrast.change
    return (
        contrast.cell,
        change.metric,
        str(change.n),
        number(change.old),
        number(change.new),
        signed(change.value),
        f"{interval(change)}{'*' if change.approximate else ''}",
        str(change.worse),
        str(change.better),
        contrast.test,
        p_value(contrast.p),
        p_value(contrast.adjusted),
    )


def _untested(cell: CellComparison) -> Iterator[tuple[str, ...]]:
    for values in (values for values in cell.untested if values.metric not in cell.unchanged):
        change = "" if values.old is None or values.new is None else signed(values.new - values.old)
        yield (cell.cell, values.metric, "", _value(values.old), _value(values.new), change, *[""] * 6)


def _value(value: float | None) -> str:
    return "-" if value is None else number(value)


def _sentences(comparison: RunComparison) -> list[str]:
    """The differences that are not in the table, as sentences."""
    both = f"{comparison.new} and {comparison.old}"
    if comparison.same:
        answers = "values" if any(cell.why for cell in comparison.cells) else "answers"
        return [f"no difference: {both} have the same {answers} in {counted(len(comparison.cells), 'cell')}"]
    cells = comparison.cells
    same = sum(cell.same for cell in cells)
    return [
        *([APPROXIMATE] if any(contrast.change.approximate for contrast in comparison.contrasts) else []),
        *([f"{same} of {counted(len(cells), 'cell')} have the same answers in both runs"] if same else []),
        *(f"no difference: {where}: {metrics}" for metrics, where in _common(_folded(cells))),
        *_hidden(comparison),
        *(f"changed: {where}: {sentence}" for sentence, where in _common((c.cell, c.differs) for c in cells)),
        *(f"no test: {where}: {why}" for why, where in _common((c.cell, [c.why]) for c in cells if c.why)),
        *_only(f"only in {comparison.old}", comparison.only_old, [(c.cell, c.only_old, c.trials_old) for c in cells]),
        *_only(f"only in {comparison.new}", comparison.only_new, [(c.cell, c.only_new, c.trials_new) for c in cells]),
    ]


def _folded(cells: Sequence[CellComparison]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the metrics without a change of each cell with another one."""
    for cell in cells:
        if cell.unchanged and not cell.same:
            yield cell.cell, [", ".join(cell.unchanged)]


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
        if samples:
            yield f"{where}: {counted(len(samples), 'sample')} of {cell}: {named(samples, _MAX_NAMED)}"
        if trials:
            shared = counted(len(set(trials)), "sample")
            yield f"{where}: {counted(len(trials), 'trial')} of {shared} of {cell} that both have"
