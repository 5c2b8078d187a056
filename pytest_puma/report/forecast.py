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
    rows = [_row(each) for each in forecasts]
    if len(rows) > 1:
        rows.append(_sum(forecasts))
    needed = {
        _TRIALS: any(each.trials > each.samples for each in forecasts),
        _KEPT: any(each.kept for each in forecasts),
    }
    shown = [place for place, column in enumerate(_COLUMNS) if needed.get(column.title, True)]
    lines = table.lines([_COLUMNS[place] for place in shown], [[row[place] for place in shown] for row in rows], width)
    lines.append(
        "detectable: the true change against a baseline on the same samples that 80 % of such runs detect at 95 %"
        f", where {percent(CHANGED)} of right and wrong answers change, or {percent(CHANGED - POINTS)} more than it"
    )
    lines += power_lines(power for each in forecasts for power in each.powers.items())
    if needed[_KEPT]:
        lines.append("kept: answers that the run takes from the response store; the minutes are those of the rest")
    lines += [f"minutes: {_basis(name, throughput)}" for name, throughput in throughputs.items()]
    lines += _memory(forecasts, process_bytes)
    long = [each for each in forecasts if each.overflows]
    return [
        *lines,
        *(f"warning: {each.cell}: {each.overflows} of {each.samples} prompts exceed the context" for each in long),
    ]


def _memory(forecasts: Sequence[Forecast], process_bytes: int) -> Iterator[str]:
    """Yield the peak of a process for each model. A process has one at a time, so the peak of all is the largest."""
    for model in dict.fromkeys(each.model for each in forecasts):
        own = [each for each in forecasts if each.model == model]
        weights, context = own[0].weights_bytes, max(each.context_bytes for each in own)
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


def _row(each: Forecast) -> tuple[str, ...]:
    return (
        each.cell,
        f"{each.samples:,}",
        f"{each.trials:,}",
        f"{each.prompt_tokens:,}",
        f"{each.cached_tokens:,}",
        f"{each.max_tokens:,}",
        "?" if each.cache_bytes is None else _megabytes(each.cache_bytes),
        f"{each.kept:,}",
        _minutes(each.seconds),
        each.metric,
        "-" if math.isnan(each.difference) else number(each.difference),
    )


def _sum(forecasts: Sequence[Forecast]) -> tuple[str, ...]:
    """Sum over all cells. The cache is the largest one, as cells run one after the other."""
    caches = [each.cache_bytes for each in forecasts if each.cache_bytes is not None]
    seconds = [each.seconds for each in forecasts]
    return (
        "all",
        f"{sum(each.samples for each in forecasts):,}",
        f"{sum(each.trials for each in forecasts):,}",
        f"{sum(each.prompt_tokens for each in forecasts):,}",
        f"{sum(each.cached_tokens for each in forecasts):,}",
        f"{sum(each.max_tokens for each in forecasts):,}",
        _megabytes(max(caches)) if caches else "?",
        f"{sum(each.kept for each in forecasts):,}",
        "?" if None in seconds else _minutes(sum(each for each in seconds if each is not None)),
        "",
        "",
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f}"


def _minutes(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds / 60:,.1f}"
