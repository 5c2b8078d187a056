"""The part of the page that needs no JavaScript: the sentences and tables of a run, as data for the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from pytest_puma.core import Outcome, Run, TaskInfo
from pytest_puma.report import notes, robustness
from pytest_puma.report.commands import commands_of
from pytest_puma.report.notes import Note
from pytest_puma.report.page.changes import Against, change_lines, contrast_table, shift_table
from pytest_puma.report.page.cost_charts import cost_charts
from pytest_puma.report.page.disagreements import Disagreement
from pytest_puma.report.page.drawings import Drawing, HeatMap, Scale, draw, heat_map
from pytest_puma.report.page.labels import LabelTable, label_table
from pytest_puma.report.page.variants import variants_of
from pytest_puma.report.rows import MetricRow, metric_rows

_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the table of a scenario, and its interval on the scale of its metric."""

    row: MetricRow
    drawing: Drawing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioTable:
    """The cells of a scenario: groups of lines, one for each cell and naive baseline, the heat map, the labels."""

    name: str
    task: TaskInfo
    scale: Scale
    groups: list[list[Line]]
    heat: HeatMap | None
    labels: LabelTable | None


def summarize(
    run: Run, against: Against | None, disagreements: Sequence[Disagreement] = (), sentences: Iterable[str] = ()
) -> dict[str, Any]:
    """Return everything that the template shows of a run; `sentences`: more of them, about the page itself."""
    # A perturbed cell without a gate has its row in the table of perturbations alone.
    shifts = shift_table(run, {outcome.cell for outcome in run.outcomes if outcome.judgement.verdicts})
    below = {line.cell for line in shifts.lines if line.only}
    failures = _by_cells(notes.failures(run))
    return {
        "heading": notes.heading(run),
        "facts": list(_facts(run)),
        "failures": failures,
        "commands": {cells: commands_of(run, *cells) for cells, _ in failures if cells},
        "undecided": _by_cells(note for note in notes.undecided(run) if note.word != "pass"),
        "passed": _by_cells(notes.passed(run)),
        "sentences": list(sentences),
        "statistics": [*notes.sources(run.outcomes), *notes.determinism(run.outcomes), *notes.remarks(run)],
        "warnings": notes.warnings(run),
        "footnotes": notes.footnotes(run.outcomes),
        "scenarios": list(_tables([outcome for outcome in run.outcomes if outcome.cell not in below])),
        "disagreements": disagreements,
        "against": "" if against is None else against.name,
        "changes": [] if against is None else list(change_lines(run, against)),
        "best": run.best,
        "costs": list(cost_charts(run)),
        "variants": variants_of(run),
        "shifts": shifts,
        "shift_sentences": robustness.sentences(run),
        "contrasts": contrast_table(run),
        "starred": any(contrast.change.approximate for contrast in run.contrasts),
    }


def standing(outcome: Outcome) -> str:
    """Return the verdict on a whole cell: `FAIL` if a gate fails it, else the first one other than `PASS`."""
    statuses = [verdict.status for verdict in outcome.judgement.verdicts]
    undecided = next((status for status in statuses if status != "PASS"), "PASS" if statuses else "")
    return "FAIL" if outcome.failed else undecided


def _by_cells(sentences: Iterable[Note]) -> list[tuple[tuple[str, ...], list[Note]]]:
    by_cells: dict[tuple[str, ...], list[Note]] = {}
    for note in sentences:
        by_cells.setdefault(note.cells, []).append(note)
    return list(by_cells.items())


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """The run in a few words: its name, its time, its size."""
    yield "run", run.id if run.number is None else f"{run.number} ({run.id})"
    if revision := run.invocation.revision:
        yield "commit", revision
    if run.started:
        yield "started", _minute(run.started)
    if run.seconds:
        yield "time", _duration(run.seconds)
    yield "answers", f"{sum(outcome.execution.trials for outcome in run.outcomes):,}"
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
    all_rows = list(metric_rows(outcomes))
    for scenario in dict.fromkeys(outcome.name.scenario for outcome in outcomes):
        rows = [row for row in all_rows if row.outcome.name.scenario == scenario]
        cells = [outcome for outcome in outcomes if outcome.name.scenario == scenario]
        task = cells[0].task
        scales = _scales(rows)
        axis = scales.get(task.primary) or Scale.over(())
        yield ScenarioTable(
            name=scenario,
            task=task,
            scale=axis,
            groups=_groups(rows, scales, axis),
            heat=heat_map(task, cells),
            labels=label_table(task, cells),
        )


def _groups(rows: Iterable[MetricRow], scales: Mapping[str, Scale], axis: Scale) -> list[list[Line]]:
    """The rows of each cell and of each naive baseline."""
    groups: list[list[Line]] = []
    for row in rows:
        if row.first:
            groups.append([])
        groups[-1].append(Line(row=row, drawing=_drawing(row, scales[row.metric], axis)))
    return groups


def _scales(rows: Sequence[MetricRow]) -> dict[str, Scale]:
    """The scale of each metric; metrics between 0 and 1 share one, so that the axis above them is true for all."""
    numbers: dict[str, list[float]] = {}
    for row in rows:
        measured = () if row.measure is None else (row.measure.value, row.measure.low, row.measure.high)
        numbers.setdefault(row.metric, []).extend(filter(math.isfinite, (*measured, row.limit)))
    shares = {metric: values for metric, values in numbers.items() if all(0 <= value <= 1 for value in values)}
    common = Scale.over(chain.from_iterable(shares.values()))
    return {metric: common if metric in shares else Scale.over(values) for metric, values in numbers.items()}


def _drawing(row: MetricRow, scale: Scale, axis: Scale) -> Drawing | None:
    """The interval of a row, without the ticks of the axis above it if its scale is another one."""
    if row.measure is None:
        return None
    drawing = draw(scale, row.measure, limits=filter(math.isfinite, [row.limit]))
    return drawing if drawing is None or scale == axis else replace(drawing, ticks=[])
