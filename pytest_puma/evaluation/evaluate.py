"""One cell from its samples to its outcome: `predict`, `judge`, `assess`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pytest_puma.analysis.early_stopping import EarlyStopping
from pytest_puma.core import Outcome, Responder, Sandbox
from pytest_puma.evaluation.assess import Context, assess
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import Progress
from pytest_puma.evaluation.judge import judge as judging
from pytest_puma.evaluation.predict import predict

DEFAULT_CONTEXT = Context()


def evaluate(
    cell: Cell,
    engine: Responder,
    context: Context = DEFAULT_CONTEXT,
    *,
    project: Path | None = None,
    progress: Progress | None = None,
    determinism: int = 0,
    only: Collection[str] | None = None,
    stop_early: bool = False,
    judge: Responder | None = None,
    sandbox: Sandbox | None = None,
) -> Outcome:
    """Run a cell to its outcome. The parameters are those of `predict`, `judge` and `assess`."""
    stopping = stopping_of(cell, context) if stop_early else None
    answered = predict(
        cell, engine, project=project, progress=progress, determinism=determinism, only=only, stopping=stopping
    )
    return assess(cell, judging(cell, answered, () if judge is None else (judge,), sandbox), context)


def stopping_of(cell: Cell, context: Context) -> EarlyStopping | None:
    """The early stopping of a cell; None if it must run in full.

    A cell that is compared with other cells must have the same samples as they have. A judge and a sandbox give no
    scores before the end.
    """
    if any(metric.asks for metric in cell.scores):
        return None
    if not cell.gates or cell.cross_cell_gates or cell.compared_metrics:
        return None
    return EarlyStopping(
        scenario=cell.scenario, gates=cell.gates, seed=cell.seed, scores=cell.scores, baseline=context.baseline
    )
