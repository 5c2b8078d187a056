"""The part of the page that needs no JavaScript: the sentences and tables of a run, as data for the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pytest_puma.core import Measure, Outcome, Run, TaskInfo
from pytest_puma.report import notes, robustness
from pytest_puma.report.notes import Note
from pytest_puma.report.page.changes import Against, ChangeLine, TextTable, change_lines, contrast_table, shift_table
from pytest_puma.report.page.drawings import Drawing, HeatMap, Scale, draw, heat_map
from pytest_puma.report.page.scenario import task_of
from pytest_puma.report.rows import MetricRow, metric_rows, number

_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the table of a scenario, and its interval on the scale of its metric."""

    row: MetricRow
    drawing: Drawing | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTable:
    """The cells of a scenario: groups of lines, one for each cell and naive baseline, and the heat map."""

    name: str
    task: TaskInfo
    scale: Scale
    groups: tuple[tuple[Line, ...], ...]
    heat: HeatMap | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything that the template shows, by cells: `failures`, errors and problems, and what is `undecided`."""

    heading: str
    facts: tuple[tuple[str, str], ...]
    failures: tuple[tuple[tuple[str, ...], tuple[Note, ...]], ...]
    undecided: tuple[tuple[tuple[str, ...], tuple[Note, ...]], ...]
    sentences: tuple[str, ...]
    warnings: tuple[Note, ...]
    footnotes: tuple[str, ...]
    scenarios: tuple[ScenarioTable, ...]
    against: str
    changes: tuple[ChangeLine, ...]
    shifts: TextTable
    shift_sentences: tuple[str, ...]
    contrasts: TextTable
    starred: bool


def summarize(run: Run, against: Against | None, sentences: Iterable[str] = ()) -> Summary:
    """Return the summary of a run; `sentences`: more of them, about the page itself."""
    # A perturbed cell without a gate has its row in the table of perturbations alone.
    shifts = shift_table(run.robustness, {outcome.cell for outcome in run.outcomes if outcome.verdicts})
    below = {line.cell for line in shifts.lines if line.only}
    return Summary(
        heading=notes.heading(run),
        facts=tuple(_facts(run)),
        failures=tuple(_by_cells(notes.failures(run))),
        undecided=tuple(_by_cells(notes.undecided(run))),
        sentences=(
            *notes.sources(run.outcomes),
            *notes.determinism(run.outcomes),
            *notes.remarks(run),
            *notes.throughputs(run.outcomes),
            *notes.origins(run),
            *sentences,
        ),
        warnings=tuple(notes.warnings(run)),
        footnotes=tuple(notes.footnotes(run.outcomes)),
        scenarios=tuple(_tables([outcome for outcome in run.outcomes if outcome.cell not in below])),
        against="" if against is None else against.name,
        changes=() if against is None else tuple(change_lines(run, against)),
        shifts=shifts,
        shift_sentences=(*robustness.sentences(run.robustness), *robustness.not_run(run)),
        contrasts=contrast_table(run.contrasts),
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
        scales = _scales(own)
        axis = scales.get(task.primary) or Scale.over(())
        yield ScenarioTable(
            name=scenario,
            task=task,
            scale=axis,
            groups=tuple(_groups(own, scales, axis)),
            heat=heat_map(task, cells),
        )


def _groups(rows: Sequence[MetricRow], scales: Mapping[str, Scale], axis: Scale) -> Iterator[tuple[Line, ...]]:
    """The rows of each cell and of each naive baseline."""
    starts = [place for place, row in enumerate(rows) if row.first]
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        group = rows[start:end]
        yield tuple(Line(row=row, drawing=_drawing(row, scales[row.metric], axis), rows=len(group)) for row in group)


def _scales(rows: Sequence[MetricRow]) -> dict[str, Scale]:
    """The scale of each metric; metrics between 0 and 1 share one, so that the axis above them is true for all."""
    numbers = {metric: _numbers(metric, rows) for metric in dict.fromkeys(row.metric for row in rows)}
    shares = {metric: own for metric, own in numbers.items() if all(0 <= each <= 1 for each in own)}
    common = Scale.over([each for own in shares.values() for each in own])
    return {metric: common if metric in shares else Scale.over(own) for metric, own in numbers.items()}


def _numbers(metric: str, rows: Iterable[MetricRow]) -> list[float]:
    """All values, ends of intervals and limits of a metric."""
    own = [row for row in rows if row.metric == metric]
    measures = [row.measure for row in own if row.measure is not None]
    numbers = [number for each in measures for number in (each.value, each.low, each.high)]
    return [number for number in (*numbers, *(row.limit for row in own)) if math.isfinite(number)]


def _drawing(row: MetricRow, scale: Scale, axis: Scale) -> Drawing | None:
    """The interval of a row, without the ticks of the axis above it if its scale is another one."""
    if row.measure is None:
        return None
    drawing = draw(scale, row.measure, _label(row.measure), limits=filter(math.isfinite, [row.limit]))
    return drawing if drawing is None or scale == axis else replace(drawing, ticks=[])


def _label(measure: Measure) -> str:
    limits = "" if math.isnan(measure.low) else f", interval {number(measure.low)} to {number(measure.high)}"
    return f"{number(measure.value)}{limits}"
