"""The part of the page that needs no JavaScript: the sentences and tables of a run, as data for the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pytest_puma.core import Change, Contrast, Direction, Gate, Measure, Outcome, Robustness, Run, Task
from pytest_puma.report import contrasts, notes, robustness
from pytest_puma.report.notes import Note
from pytest_puma.report.page.against import Against, is_change
from pytest_puma.report.page.heat import HeatMap, heat_map
from pytest_puma.report.page.scale import Drawing, Scale, draw
from pytest_puma.report.page.task import task_of
from pytest_puma.report.rows import Row, metric_rows, number, signed
from pytest_puma.report.table import Column

_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the table of a scenario, and its interval on the scale of its metric."""

    row: Row
    drawing: Drawing | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTable:
    """The cells of a scenario: groups of lines, one for each cell and naive baseline, and the heat map."""

    name: str
    task: Task
    scale: Scale
    groups: tuple[tuple[Line, ...], ...]
    heat: HeatMap | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A row of a table that the terminal has too, and its change drawn."""

    cell: str
    texts: tuple[str, ...]
    drawing: Drawing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """Such a table, without the columns that name the cell."""

    columns: tuple[Column, ...]
    lines: tuple[TextLine, ...]

    @property
    def drawn(self) -> int:
        """The place of the first interval, which the drawing precedes."""
        return [column.title for column in self.columns].index("95 % interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything that the template shows; `verdicts`: the gates that are not kept, errors and problems, by cells."""

    heading: str
    failed: bool
    facts: tuple[tuple[str, str], ...]
    verdicts: tuple[tuple[tuple[str, ...], tuple[Note, ...]], ...]
    sentences: tuple[str, ...]
    warnings: tuple[Note, ...]
    footnote: tuple[str, ...]
    scenarios: tuple[ScenarioTable, ...]
    against: str
    changes: tuple[ChangeLine, ...]
    shifts: TextTable
    shift_sentences: tuple[str, ...]
    contrasts: TextTable
    starred: bool


def summarize(run: Run, against: Against | None, sentences: Iterable[str] = ()) -> Summary:
    """Return the summary of a run; `sentences`: more of them, about the page itself."""
    return Summary(
        heading=notes.heading(run),
        failed=bool(notes.failures(run)),
        facts=tuple(_facts(run)),
        verdicts=tuple(_by_cells([*notes.failures(run), *notes.undecided(run)])),
        sentences=(
            *notes.sources(run.outcomes),
            *notes.determinism(run.outcomes),
            *notes.remarks(run),
            *notes.origins(run),
            *sentences,
        ),
        warnings=tuple(notes.warnings(run)),
        footnote=tuple(notes.footnote(run.outcomes)),
        scenarios=tuple(_tables(run.outcomes)),
        against="" if against is None else against.name,
        changes=() if against is None else tuple(_changes(run, against)),
        shifts=_shifts(run.robustness),
        shift_sentences=(*robustness.sentences(run.robustness), *robustness.not_run(run)),
        contrasts=_contrasts(run.contrasts),
        starred=any(each.change.approximate for each in run.contrasts),
    )


def _by_cells(sentences: Iterable[Note]) -> Iterator[tuple[tuple[str, ...], tuple[Note, ...]]]:
    by_cells: dict[tuple[str, ...], list[Note]] = {}
    for note in sentences:
        by_cells.setdefault(note.cells, []).append(note)
    return ((cells, tuple(own)) for cells, own in by_cells.items())


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """The run in a few words: its name, its time, its size."""
    yield "run", run.id if run.number is None else f"{run.number} ({run.id})"
    if revision := run.invocation.revision:
        yield "commit", f"{revision}{' (dirty)' if run.invocation.dirty else ''}"
    if run.started:
        yield "started", _minute(run.started)
    if run.seconds:
        yield "time", _duration(run.seconds)
    yield "answers", f"{sum(outcome.trials for outcome in run.outcomes):,}"
    if version := run.environment.get("pytest-puma"):
        yield "pytest-puma", version


def _minute(started: str) -> str:
    try:
        time = datetime.fromisoformat(started)
    except ValueError:
        return started
    return f"{time:%Y-%m-%d %H:%M} {time.tzname() or ''}".strip()


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if seconds < _HOUR else f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


def _tables(outcomes: Sequence[Outcome]) -> Iterator[ScenarioTable]:
    rows = list(metric_rows(outcomes))
    for scenario in dict.fromkeys(outcome.scenario for outcome in outcomes):
        own = [row for row in rows if row.outcome.scenario == scenario]
        cells = [outcome for outcome in outcomes if outcome.scenario == scenario]
        task = task_of(cells[0])
        scales = {metric: _scale(metric, own) for metric in dict.fromkeys(row.metric for row in own)}
        yield ScenarioTable(
            name=scenario,
            task=task,
            scale=scales.get(task.primary) or Scale.over(()),
            groups=tuple(_groups(own, scales)),
            heat=heat_map(task, cells),
        )


def _groups(rows: Sequence[Row], scales: Mapping[str, Scale]) -> Iterator[tuple[Line, ...]]:
    """The rows of each cell and of each naive baseline."""
    starts = [place for place, row in enumerate(rows) if row.first]
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        group = rows[start:end]
        yield tuple(Line(row=row, drawing=_drawn(row, scales[row.metric]), rows=len(group)) for row in group)


def _scale(metric: str, rows: Iterable[Row]) -> Scale:
    """The scale of all values, intervals and limits of a metric."""
    own = [row for row in rows if row.metric == metric]
    measures = [row.measure for row in own if row.measure is not None]
    numbers = (number for each in measures for number in (each.value, each.low, each.high))
    return Scale.over([*numbers, *(limit for row in own for limit in _limits(row))])


def _limits(row: Row) -> list[float]:
    """The limits of gates on a metric itself."""
    gates = (verdict.gate for verdict in row.verdicts)
    return [gate.limit for gate in gates if gate.other is None and not gate.word]


def _drawn(row: Row, scale: Scale) -> Drawing | None:
    if row.measure is None:
        return None
    return draw(scale, row.measure, _spoken(row.measure), limits=_limits(row))


def _spoken(measure: Measure) -> str:
    limits = "" if math.isnan(measure.low) else f", interval {number(measure.low)} to {number(measure.high)}"
    return f"{number(measure.value)}{limits}"


def _changes(run: Run, against: Against) -> Iterator[ChangeLine]:
    """A line for each gate on a change, and for that of the primary metric if no gate is about it."""
    lines: list[tuple[Outcome, Gate | None, Change, str]] = []
    for outcome in run.outcomes:
        judged = [each for each in outcome.verdicts if against.judged and is_change(each)]
        known = {_kind(each.change) for each in judged if each.change is not None}
        lines += [(outcome, each.gate, each.change, each.status) for each in judged if each.change is not None]
        others = [each for each in against.changes.get(outcome.cell, ()) if each.metric == outcome.primary]
        lines += [(outcome, None, each, "") for each in others if _kind(each) not in known]
    scales = _change_scales(change for _, _, change, _ in lines)
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
            drawing=draw(scales[_kind(change)], change, _spoken_change(change), zero=none),
        )


def _change_scales(changes: Iterable[Change]) -> dict[tuple[str, bool], Scale]:
    """A scale for each metric around the place of no change."""
    numbers: dict[tuple[str, bool], list[float]] = {}
    for each in changes:
        none = 1.0 if each.quotient else 0.0
        numbers.setdefault(_kind(each), [none]).extend((each.value, each.low, each.high))
    return {kind: Scale.over(values) for kind, values in numbers.items()}


def _kind(change: Change) -> tuple[str, bool]:
    return change.metric, change.quotient


def _effect(change: Change, better: Direction, none: float) -> str:
    if better == "neither" or not (change.low > none or change.high < none):
        return ""
    return "better" if (change.low > none) == (better == "high") else "worse"


def _spoken_change(change: Change) -> str:
    limits = "" if math.isnan(change.low) else f", interval {signed(change.low)} to {signed(change.high)}"
    return f"{signed(change.value)}{limits}"


def _shifts(results: Sequence[Robustness]) -> TextTable:
    shifts = [(each.cell, shift.change) for each in results for shift in each.shifts]
    return _text_table(robustness.COLUMNS, robustness.rows(results), shifts, named=3)


def _contrasts(results: Sequence[Contrast]) -> TextTable:
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
    """A table without its first columns, which name the cell."""
    scales = _change_scales(change for _, change in changes)
    return TextTable(
        columns=tuple(columns[named:]),
        lines=tuple(
            TextLine(
                cell=cell,
                texts=texts[named:],
                drawing=draw(scales[_kind(change)], change, _spoken_change(change), zero=0.0),
            )
            for (cell, change), texts in zip(changes, rows, strict=True)
        ),
    )
