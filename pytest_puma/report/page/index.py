"""The block `ix`: the run, its scenarios and its cells with all their numbers and their history, without samples."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import plain, storable
from pytest_puma.core import Change, Execution, Gap, Measure, Outcome, Run, Shift
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.report.commands import commands
from pytest_puma.report.page import charts
from pytest_puma.report.page.cells import CellBlocks
from pytest_puma.report.page.changes import Against
from pytest_puma.report.page.scenario import ScenarioBlocks
from pytest_puma.report.rows import computed_tokens, metric_rows, seconds, throughput
from pytest_puma.runs.index import History
from pytest_puma.runs.rows import TrendStep, steps

#: The version of the blocks, which the viewer checks.
FORMAT = 1
_MAX_RUNS = 50


def index(
    run: Run,
    scenarios: Mapping[str, ScenarioBlocks],
    cells: Mapping[int, CellBlocks],
    *,
    against: Against | None,
    folder: Path | None,
) -> dict[str, Any]:
    """Return the content of the block, with nothing left out; `folder`: that of the run, None if it has none."""
    scenario_numbers = {name: number for number, name in enumerate(scenarios)}
    numbers = {outcome.cell: number for number, outcome in enumerate(run.outcomes)}
    history = _history(run, folder)
    return {
        "format": FORMAT,
        "run": _run(run),
        "against": None if against is None else against.name,
        "left_out": None,
        "scenarios": [_scenario(name, scenario) for name, scenario in scenarios.items()],
        "cells": [
            {"id": outcome.cell, "scenario": scenario_numbers[outcome.name.scenario]}
            | _picked(outcome.name, ("strategy", "perturbation", "model", "shown"))
            | _results(outcome, against)
            | _charts(outcome, cells.get(number))
            | _robustness(run, outcome, numbers)
            | _circumstances(run, outcome, against)
            | {"history": history.get(outcome.cell, [])}
            for number, outcome in enumerate(run.outcomes)
        ],
    }


def _run(run: Run) -> dict[str, Any]:
    commit = run.invocation.commit or None
    return {
        **_picked(run, ("id", "started", "number")),
        "commit": commit,
        "branch": run.invocation.branch or None,
        "dirty": run.invocation.dirty if commit else None,
        "seconds": run.seconds,
    }


def _scenario(name: str, scenario: ScenarioBlocks) -> dict[str, Any]:
    task = scenario.task
    return {
        "name": name,
        "task": task.type,
        **_picked(task, ("labels", "ordered", "primary", "better")),
        "rows": len(scenario),
        "cells": scenario.cells,
    }


def _results(outcome: Outcome, against: Against | None) -> dict[str, Any]:
    changes = () if against is None else against.changes.get(outcome.cell, ())
    rows = list(metric_rows([outcome]))
    limits = {row.judged.gate: row.limit for row in rows if row.judged is not None}
    return {
        "measures": list(map(_measure, outcome.measures.values())),
        "verdicts": [
            {
                "gate": str(verdict.gate),
                "limit": None if verdict.gate.other is None else plain(limits[verdict.gate]),
                **_picked(verdict, ("status", "reason", "fails")),
            }
            for verdict in outcome.judgement.verdicts
        ],
        "limits": [
            {"gate": row.gate, "value": row.limit}
            for row in rows
            if row.metric == outcome.primary and math.isfinite(row.limit)
        ],
        "change": _change(changes[0]) if changes else None,
        "naive": [
            {"name": name, "measures": list(map(_measure, measures.values()))}
            for name, measures in outcome.tables.naive_baselines.items()
        ],
    }


def _charts(outcome: Outcome, blocks: CellBlocks | None) -> dict[str, Any]:
    return {
        "confusion": charts.confusion(outcome),
        "calibration": charts.calibration(outcome),
        **({"points": None, "distributions": []} if blocks is None else blocks.charts),
        "failures": dict(outcome.tables.failures),
    }


def _robustness(run: Run, outcome: Outcome, numbers: Mapping[str, int]) -> dict[str, Any]:
    results = [result for result in run.robustness if result.cell == outcome.cell]
    twins = {
        twin.name.perturbation: numbers[twin.cell]
        for twin in run.outcomes
        if (twin.name.scenario, twin.name.strategy, twin.name.model)
        == (outcome.name.scenario, outcome.name.strategy, outcome.name.model)
    }
    return {
        "shifts": [_shift(shift, twins.get(shift.perturbation)) for result in results for shift in result.shifts],
        "gaps": [_gap(gap) for result in results for gap in result.gaps],
    }


def _circumstances(run: Run, outcome: Outcome, against: Against | None) -> dict[str, Any]:
    faults = [fault.message for fault in run.faults if fault.node_id == outcome.execution.node_id]
    return {
        "warnings": [warning.removeprefix(f"{outcome.cell}: ") for warning in outcome.judgement.warnings],
        "kept": _kept(outcome.execution),
        "seconds": outcome.execution.seconds,
        "time": seconds(outcome),
        "tokens": computed_tokens(outcome),
        "throughput": throughput([outcome]),
        "signature": plain(outcome.execution.signature),
        "changed": [] if against is None else list(against.changed.get(outcome.cell, ())),
        "commands": commands(run, outcome),
        "error": "; ".join(faults) or None,
    }


def _kept(execution: Execution) -> str | None:
    shares = {"": execution.kept, "of the judge: ": execution.kept_of_judges}
    return "; ".join(f"{who}{share}" for who, share in shares.items() if share is not None) or None


def _measure(measure: Measure) -> dict[str, Any]:
    return _picked(measure, ("metric", "value", "low", "high", "n", "note", "better", "unit"))


def _change(change: Change) -> dict[str, Any]:
    names = ("metric", "old", "new", "value", "low", "high", "n", "worse", "better", "approximate", "quotient")
    return _picked(change, names)


def _shift(shift: Shift, cell: int | None) -> dict[str, Any]:
    counts = _picked(shift.answer_changes, ("fixed", "broken", "still_wrong"))
    names = {"perturbation": shift.perturbation, "cell": cell, "change": _change(shift.change)}
    return names | counts | _picked(shift, ("p", "adjusted"))


def _gap(gap: Gap) -> dict[str, Any]:
    return {"axis": gap.axis, "old": gap.old, "new": gap.new, "change": _change(gap.change)}


def _picked(source: object, names: Iterable[str]) -> dict[str, Any]:
    """Some attributes, null for NaN."""
    return {name: plain(getattr(source, name)) for name in names}


def _history(run: Run, folder: Path | None) -> dict[str, list[dict[str, Any]]]:
    """The newest values up to a run, the oldest first, by cell; none for a folder outside of a project."""
    project = Path() if folder is None else folder.parent.parent.parent
    if folder is None or runs_of(project) != folder.parent:
        return {}
    # The run itself reports an index that cannot be read: its page lacks the trend, and nothing else.
    with suppress(OSError, sqlite3.Error), closing(History(project)) as history:
        return {outcome.cell: _points(history, outcome, run) for outcome in run.outcomes}
    return {}


def _points(history: History, outcome: Outcome, run: Run) -> list[dict[str, Any]]:
    rows = history.trend(storable(outcome.cell), storable(outcome.primary), last=_MAX_RUNS)
    last = math.inf if run.number is None else run.number
    earlier = [row for row in rows if row.run.number is not None and row.run.number <= last]
    return list(map(_point, steps(earlier)))


def _point(step: TrendStep) -> dict[str, Any]:
    """The value in one run, with its interval. `note`: what changed since the run before, such as the engine."""
    run = step.row.run
    return {
        "run": run.name,
        "number": run.number,
        "commit": run.invocation.revision,
        "date": run.started,
        **_picked(step.row.measure, ("value", "low", "high")),
        "note": f"{', '.join(step.changed)} changed" if step.changed else "",
    }
