"""The power of the gates of a cell before it runs, from what their metrics declare and from the gold answers.

Nothing has moved yet, so all movement is assumed (`gates.power`). The losses of a regression are assumed to be
those of one answer to all samples, with a correlation of one half to the losses before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

import numpy as np

from pytest_puma.core import Gate, Power
from pytest_puma.core.change import Spread
from pytest_puma.evaluation.cell import Cell
from pytest_puma.gates.power import Compared, detection_of, of_gate
from pytest_puma.metrics import declaration
from pytest_puma.stats.sizes import typical_difference
from pytest_puma.strategies import Task


def powers(cell: Cell, samples: Sequence[Task]) -> dict[str, Power]:
    """Return the power of the gates on a baseline, as far as it follows from their metric."""
    kind, stated = cell.scenario.kind, {}
    for gate in cell.gates:
        compared = _compared(cell, cell.scenario.decisive_metric() if gate.word else gate.metric, samples)
        if gate.other == "baseline" and compared is not None:
            # Label probabilities may count.
            stated[str(gate)] = of_gate(gate, compared, at_least=bool(gate.word) and kind.form in {"labels", "choices"})
    return {gate: power for gate, power in stated.items() if power is not None}


def detectable(cell: Cell, samples: Sequence[Task]) -> float:
    """Return the smallest fall of the primary metric that 80 % of such runs detect at 95 %; NaN if there is none."""
    metric = cell.scenario.primary_metric()
    compared = _compared(cell, metric, samples)
    if compared is None:
        return math.nan
    detection = detection_of(Gate(metric=metric, op=">=", limit=0, other="baseline"), compared)
    smallest = detection.smallest() if detection.known else None
    return math.nan if smallest is None else smallest


def _compared(cell: Cell, metric: str, samples: Sequence[Task]) -> Compared | None:
    """The metric as a gate will compare it; None if its spread is unknown before the run."""
    declared, n = declaration(cell.scenario, metric, cell.scores), len(samples)
    if declared is None:
        return None
    exact, scored = declared.comparison.test == "mcnemar", declared.comparison.scored
    if declared.bounds is not None:
        low, high = declared.bounds
        spread = Spread(n=n, moved=0.0, size=0.0, unseen=high - low, width=high - low)
        return Compared(metric=metric, n=n, old=(low + high) / 2, spread=spread, exact=exact, scored=scored)
    if not (cell.scenario.kind.form == "numbers" and metric == cell.scenario.decisive_metric()):
        return None
    return of_numbers([float(task.sample.gold) for task in samples])


def of_numbers(golds: Sequence[float]) -> Compared:
    """Return the mean absolute error as a gate will compare it, of these gold answers."""
    middle = median(golds)
    losses = np.abs(np.array(golds) - middle)
    size = typical_difference(losses)
    moved = float(losses.var()) / size if size else 0.0
    spread = Spread(n=len(golds), moved=moved, size=size, unseen=size, width=0.0)
    return Compared(metric="mae", n=len(golds), old=fmean(losses), spread=spread)
