"""The forecasts of the cells as a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pytest_puma.core import Forecast
from pytest_puma.core.power import percent
from pytest_puma.gates.power import CHANGED, POINTS
from pytest_puma.report import table
from pytest_puma.report.gates import power_lines
from pytest_puma.report.rows import number
from pytest_puma.report.table import Column
from pytest_puma.runs.throughput import Throughput

#: The columns that only repeats and kept answers need.
_TRIALS, _KEPT = "trials", "kept"
_COLUMNS = (
    Column(title="cell", names=True),
    Column(title="n", right=True),
    Column(title=_TRIALS, right=True),
    Column(title="prompt tokens", right=True),
    Column(title="shared", right=True, leaves=2, trails="{} of them shared"),
    Column(title="max reply tokens", right=True, leaves=3, trails="replies of up to {} tokens"),
    Column(title="cache MB", right=True),
    Column(title=_KEPT, right=True),
    Column(title="minutes", right=True),
    Column(title="metric", leaves=1),
    Column(title="detectable", right=True),
)


def forecast_lines(
    forecasts: Sequence[Forecast], throughputs: Mapping[str, Throughput], width: int, *, process_bytes: int
) -> list[str]:
    """Return one row per cell, a sum, and notes; `throughputs` by the name of the model, `width` of the terminal.

    `process_bytes`: the memory of the process without any model.
    """
    rows = [_row(forecast) for forecast in forecasts]
    if len(rows) > 1:
        rows.append(_sum(forecasts))
    needed = {
        _TRIALS: any(forecast.trials > forecast.samples for forecast in forecasts),
        _KEPT: any(forecast.kept for forecast in forecasts),
    }
    shown = [index for index, column in enumerate(_COLUMNS) if needed.get(column.title, True)]
    lines = table.lines([_COLUMNS[index] for index in shown], [[row[index] for index in shown] for row in rows], width)
    lines.append(
        "detectable: the true change against a baseline on the same samples that 80 % of such runs detect at 95 %"
        f", where {percent(CHANGED)} of right and wrong answers change, or {percent(CHANGED - POINTS)} more than it"
    )
    lines += power_lines(power for forecast in forecasts for power in forecast.powers.items())
    if needed[_KEPT]:
        lines.append("kept: answers that the run takes from the response store; the minutes are those of the rest")
    lines += [f"minutes: {_basis(name, throughput)}" for name, throughput in throughputs.items()]
    lines += _memory(forecasts, process_bytes)
    long = [forecast for forecast in forecasts if forecast.overflows]
    return [
        *lines,
        *(
            f"warning: {forecast.cell}: {forecast.overflows} of {forecast.samples} prompts exceed the context"
            for forecast in long
        ),
    ]


def _memory(forecasts: Sequence[Forecast], process_bytes: int) -> Iterator[str]:
    """Yield the peak of a process for each model. A process has one at a time, so the peak of all is the largest."""
    for model in dict.fromkeys(forecast.model for forecast in forecasts):
        of_model = [forecast for forecast in forecasts if forecast.model == model]
        weights, context = of_model[0].weights_bytes, max(forecast.context_bytes for forecast in of_model)
        peak = process_bytes + weights + context
        yield (
            f"memory: about {_megabytes(peak)} MB with {model}: {_megabytes(weights)} MB of weights, "
            f"{_megabytes(context)} MB of caches and buffers, {_megabytes(process_bytes)} MB of Python and libraries"
        )


def _basis(model: str, throughput: Throughput) -> str:
    speed = f"{throughput.prefill:,.0f} and wrote {throughput.decode:,.0f} tokens a second"
    if not throughput.day:
        return f"{model} read {speed} in a trial of two seconds; at most, as replies may be shorter"
    return f"{model} read {speed} on {throughput.day}"


def _row(forecast: Forecast) -> tuple[str, ...]:
    return (
        forecast.cell,
        f"{forecast.samples:,}",
        f"{forecast.trials:,}",
        f"{forecast.prompt_tokens:,}",
        f"{forecast.cached_tokens:,}",
        f"{forecast.max_tokens:,}",
        "?" if forecast.cache_bytes is None else _megabytes(forecast.cache_bytes),
        f"{forecast.kept:,}",
        _minutes(forecast.seconds),
        forecast.metric,
        "-" if math.isnan(forecast.difference) else number(forecast.difference),
    )


def _sum(forecasts: Sequence[Forecast]) -> tuple[str, ...]:
    """Sum over all cells. The cache is the largest one, as cells run one after the other."""
    caches = [forecast.cache_bytes for forecast in forecasts if forecast.cache_bytes is not None]
    seconds = [forecast.seconds for forecast in forecasts]
    return (
        "all",
        f"{sum(forecast.samples for forecast in forecasts):,}",
        f"{sum(forecast.trials for forecast in forecasts):,}",
        f"{sum(forecast.prompt_tokens for forecast in forecasts):,}",
        f"{sum(forecast.cached_tokens for forecast in forecasts):,}",
        f"{sum(forecast.max_tokens for forecast in forecasts):,}",
        _megabytes(max(caches)) if caches else "?",
        f"{sum(forecast.kept for forecast in forecasts):,}",
        "?" if None in seconds else _minutes(sum(time for time in seconds if time is not None)),
        "",
        "",
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f}"


def _minutes(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds / 60:,.1f}"
