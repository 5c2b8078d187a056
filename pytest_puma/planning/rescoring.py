"""A benchmark as an earlier run asked it: the options of that run, in place of those of the marker.

The samples, strategies and perturbations of a run are known by its cells. An option on the command line still wins,
so that a part can be rescored; a cell that the run does not have is not selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_puma.core import Model, ModelOptions
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions
from pytest_puma.runs.prediction_file import StoredCell
from pytest_puma.runs.recorded_run import RecordedRun


def as_recorded(benchmark: BenchmarkSpec, run: RecordedRun | None, *, test: str) -> BenchmarkSpec:
    """Return the benchmark of a test function with the options of the run.

    A run that had no such function, which may have been renamed since, is searched for the scenario.
    """
    if run is None:
        return benchmark
    cells = [cell for cell in run.cells.values() if cell.name.scenario == benchmark.scenario.name]
    cells = [cell for cell in cells if cell.test == test] or cells
    return replace(benchmark, options=_options(cells).with_defaults(benchmark.options)) if cells else benchmark


def recorded_models(run: RecordedRun) -> tuple[Model, ...]:
    """Return the models of a run, in its order. Their weights are not needed."""
    chats = {cell.name.model: _chat(cell) for cell in run.cells.values()}
    return tuple(
        Model(name=name, path=run.path, options=ModelOptions(chat=chat), source="run") for name, chat in chats.items()
    )


def _options(cells: Sequence[StoredCell]) -> RunOptions:
    """The options of the cells of one test function, which share their samples."""
    signature = cells[0].signature
    perturbations = (cell.name.perturbation for cell in cells)
    repeats = signature.get("repeats", 1)
    return RunOptions(
        strategies=tuple(dict.fromkeys(cell.name.strategy for cell in cells)),
        perturb=tuple(dict.fromkeys(name for name in perturbations if name is not None)),
        samples=signature["samples"],
        repeats=repeats,
        subjects=tuple(signature.get("subjects", ())) or None,
        seed=signature["seed"],
        # Repeats need a temperature above 0. The recorded answers have that of their run in any case.
        temperature=signature["generation"]["temperature"] if repeats > 1 else None,
    )


def _chat(cell: StoredCell) -> bool:
    return bool(cell.signature.get("chat", True))
