"""The cost of each model of a run with variants, as a table: its weights, its speed and the peak of its memory.

model         MB  bits/weight  tensors                                read/s  written/s  peak memory, MB
-----------  ---  -----------  -------------------------------------  ------  ---------  ---------------
smol         258        16.00  100% F16                                  812         95              470
smol+Q4_K_M  101         6.17  58% Q5_0, 22% Q8_0, 11% Q4_K, 9% Q6_K   1,204        140              395
"""

from __future__ import annotations

from typing import NamedTuple

from pytest_puma.core import Run, Speed
from pytest_puma.core.weights import Weights
from pytest_puma.report import table
from pytest_puma.report.table import TextColumn

#: The share of the weights below which a type is left out, and the maximum number of types.
_SMALLEST, _MOST = 0.005, 4
#: Megabytes that need no digit behind the point.
_LARGE = 10


class Cost(NamedTuple):
    """The cost of a model over all of its cells; no speed if its answers were kept."""

    model: str
    weights: Weights
    speed: Speed
    peak_memory: int


def _megabytes(size: int) -> str:
    megabytes = size / 2**20
    return f"{megabytes:,.{0 if megabytes >= _LARGE else 1}f}" if size else "-"


def _types(weights: Weights) -> str:
    """The types of the tensors by their share of the weights; of many, the largest."""
    shown = [f"{share:.0%} {name}" for name, share in weights.types.items() if share >= _SMALLEST]
    return ", ".join(shown[:_MOST])


def _rate(tokens: int, seconds: float) -> str:
    return f"{tokens / seconds:,.0f}" if seconds else "-"


_COLUMNS: tuple[TextColumn[Cost], ...] = (
    TextColumn("model", lambda cost: cost.model, names=True),
    TextColumn("MB", lambda cost: _megabytes(cost.weights.size), right=True),
    TextColumn("bits/weight", lambda cost: f"{cost.weights.bits:.2f}", right=True),
    TextColumn("tensors", lambda cost: _types(cost.weights), leaves=1, trails="{}"),
    TextColumn("read/s", lambda cost: _rate(cost.speed.prefill_tokens, cost.speed.prefill_seconds), right=True),
    TextColumn("written/s", lambda cost: _rate(cost.speed.decode_tokens, cost.speed.decode_seconds), right=True),
)
_PEAK: TextColumn[Cost] = TextColumn(
    "peak memory, MB",
    lambda cost: _megabytes(cost.peak_memory),
    right=True,
    leaves=2,
    trails="{} MB of memory at the peak",
)


def costs(run: Run) -> list[Cost]:
    """Return the cost of each model whose file is here; nothing in a run without variants."""
    answered = dict.fromkeys(outcome.name.model for outcome in run.outcomes)
    return [_cost(run, model) for model in answered if model in run.weights]


def columns(run: Run) -> tuple[TextColumn[Cost], ...]:
    """Return the columns of the table; that of the memory only if it was measured."""
    return (*_COLUMNS, *([_PEAK] if any(cost.peak_memory for cost in costs(run)) else []))


def rows(run: Run) -> list[tuple[str, ...]]:
    """Return the rows under `columns`."""
    shown = columns(run)
    return [table.texts(shown, cost) for cost in costs(run)]


def lines(run: Run, width: int) -> list[str]:
    """Return the table; nothing without rows."""
    found = rows(run)
    return table.lines(columns(run), found, width) if found else []


def _cost(run: Run, model: str) -> Cost:
    executions = [outcome.execution for outcome in run.outcomes if outcome.name.model == model]
    speed = sum((execution.speed for execution in executions), Speed())
    return Cost(model, run.weights[model], speed, max(execution.peak_memory for execution in executions))
