"""The forecasts of the cells as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_puma.core import Forecast, JudgeForecast
from pytest_puma.core.power import BESIDE, percent
from pytest_puma.core.variant import plain_name
from pytest_puma.gates.power import CHANGED, POINTS
from pytest_puma.models.beside import large_controls
from pytest_puma.phrases import counted, megabytes, named
from pytest_puma.report import table
from pytest_puma.report.gates import power_lines
from pytest_puma.report.rows import number
from pytest_puma.report.table import TextColumn
from pytest_puma.runs.throughput import Throughput

#: The columns that only repeats and kept answers need.
_TRIALS, _KEPT = "trials", "kept"


def _cache(forecast: Forecast) -> str:
    return "?" if forecast.cache_bytes is None else megabytes(forecast.cache_bytes)


def _minutes(forecast: Forecast) -> str:
    return "?" if forecast.seconds is None else f"{forecast.seconds / 60:,.1f}"


_COLUMNS: tuple[TextColumn[Forecast], ...] = (
    TextColumn("cell", lambda forecast: forecast.cell, names=True),
    TextColumn("n", lambda forecast: f"{forecast.samples:,}", right=True),
    TextColumn(_TRIALS, lambda forecast: f"{forecast.trials:,}", right=True),
    TextColumn("prompt tokens", lambda forecast: f"{forecast.prompt_tokens:,}", right=True),
    TextColumn(
        "shared", lambda forecast: f"{forecast.cached_tokens:,}", right=True, leaves=2, trails="{} of them shared"
    ),
    TextColumn(
        "max reply tokens",
        lambda forecast: f"{forecast.max_tokens:,}",
        right=True,
        leaves=3,
        trails="replies of up to {} tokens",
    ),
    TextColumn("cache MB", _cache, right=True),
    TextColumn(_KEPT, lambda forecast: f"{forecast.kept:,}", right=True),
    TextColumn("minutes", _minutes, right=True),
    TextColumn("metric", lambda forecast: forecast.metric, leaves=1),
    TextColumn("detectable", lambda forecast: number(forecast.difference), right=True),
)
#: The last columns, which a sum leaves empty, and the fields that it adds up.
_OF_CELLS = 2
_SUMMED = ("samples", "trials", "prompt_tokens", "cached_tokens", "max_tokens", "kept")


def forecast_lines(
    forecasts: Sequence[Forecast],
    throughputs: Mapping[str, Throughput],
    width: int,
    *,
    process_bytes: int,
    read: Sequence[Sequence[JudgeForecast]] = (),
) -> list[str]:
    """Return one row per cell, a sum, and notes; `throughputs` by the name of the model, `width` of the terminal.

    `process_bytes`: the memory of the process without any model. `read`: the judges of cells whose answers are read.
    """
    lines = _table(forecasts, width) if forecasts else []
    if read:
        cells = counted(len(forecasts) + len(read), "cell")
        lines.append(f"nothing is computed for {len(read)} of {cells}: their answers are read")
    beside = [forecast.judges for forecast in forecasts]
    lines += [*_bases(throughputs), *_judging([*beside, *read]), *_memory(forecasts, process_bytes)]
    if not any(beside):
        lines += _memory_of_judges_alone(read, process_bytes)
    lines += [
        f"warning: {forecast.cell}: {forecast.overflows} of {forecast.samples} prompts exceed the context"
        for forecast in forecasts
        if forecast.overflows
    ]
    return lines


def _table(forecasts: Sequence[Forecast], width: int) -> list[str]:
    """The table with a sum, and the notes on its columns."""
    needed = {
        _TRIALS: any(forecast.trials > forecast.samples for forecast in forecasts),
        _KEPT: any(forecast.kept for forecast in forecasts),
    }
    shown = [column for column in _COLUMNS if needed.get(column.title, True)]
    rows = [table.texts(shown, forecast) for forecast in forecasts]
    if len(rows) > 1:
        rows.append((*table.texts(shown[:-_OF_CELLS], _sum(forecasts)), *[""] * _OF_CELLS))
    lines = [*_variants(forecasts), *table.lines(shown, rows, width)]
    lines.append(
        "detectable: the true change against a baseline on the same samples that 80 % of such runs detect at 95 %"
        f", where {percent(CHANGED)} of right and wrong answers change, or {percent(CHANGED - POINTS)} more than it"
    )
    lines += power_lines(power for forecast in forecasts for power in forecast.powers.items())
    if needed[_KEPT]:
        lines.append("kept: answers that the run takes from the response store; the minutes are those of the rest")
    scored = [forecast.distance_tokens for forecast in forecasts if forecast.distance_tokens]
    if scored:
        cells = f"{len(scored)} of {counted(len(forecasts), 'cell')}"
        lines.append(f"distance: {cells} read {sum(scored):,} tokens more for it; the minutes include them")
    return lines


def _variants(forecasts: Sequence[Forecast]) -> Iterator[str]:
    """Yield how many variants a model has, and how often weights are loaded for them."""
    for plain in dict.fromkeys(plain_name(forecast.model) for forecast in forecasts):
        of_model = [forecast for forecast in forecasts if plain_name(forecast.model) == plain]
        models, loads = ({getattr(forecast, name) for forecast in of_model} for name in ("model", "loaded"))
        if models != {plain}:
            cells = counted(len(of_model), "cell")
            yield f"{counted(len(models), 'variant')} of {plain} ({counted(len(loads), 'load')}), {cells}"


def _memory(forecasts: Sequence[Forecast], process_bytes: int) -> Iterator[str]:
    """Yield the peak of a process for each model and its variants.

    A process has one model at a time, so the peak of all is the largest. Adapters and vectors stay loaded.
    """
    for model in dict.fromkeys(forecast.loaded for forecast in forecasts):
        of_model = [forecast for forecast in forecasts if forecast.loaded == model]
        weights, context = of_model[0].weights_bytes, max(forecast.context_bytes for forecast in of_model)
        controls = {name: size for forecast in of_model for name, size in forecast.controls.items()}
        beside = sum(controls.values())
        yield _peak(model, weights, context, process_bytes, beside)
        yield from (f"warning: {sentence}" for sentence in large_controls(controls, weights))
        if judges := [judge for forecast in of_model for judge in forecast.judges if judge.weights_bytes]:
            yield _memory_of_judges(model, process_bytes + weights + beside + context, judges)


def _memory_of_judges(model: str, peak: int, asked: Sequence[JudgeForecast]) -> str:
    """The sentence on the peak with judges beside a model."""
    weights, context = _size(asked)
    judges = dict.fromkeys(judge.judge for judge in asked)
    return (
        f"memory: about {megabytes(peak + weights + context)} MB with {model} and {named(judges)} beside it: "
        f"{megabytes(weights)} MB of weights and {megabytes(context)} MB of caches and buffers more; with less than "
        f"{megabytes(weights + len(judges) * BESIDE)} MB free for it, {model} is closed before a judge opens"
    )


def _memory_of_judges_alone(cells: Iterable[Sequence[JudgeForecast]], process_bytes: int) -> Iterator[str]:
    """Yield the peak of a process that has the judges of these cells, and no model."""
    asked = [judge for judges in cells for judge in judges if judge.weights_bytes]
    if asked:
        weights, context = _size(asked)
        names = named(dict.fromkeys(judge.judge for judge in asked))
        yield _peak(names, weights, context, process_bytes)


def _size(judges: Sequence[JudgeForecast]) -> tuple[int, int]:
    """The bytes of the weights of all judges, and of their largest caches and buffers."""
    weights = {judge.judge: judge.weights_bytes for judge in judges}
    contexts = (max(judge.context_bytes for judge in judges if judge.judge == name) for name in weights)
    return sum(weights.values()), sum(contexts)


def _peak(names: str, weights: int, context: int, process_bytes: int, beside: int = 0) -> str:
    put_on = f"{beside / 2**20:,.1f} MB of adapters and vectors, " if beside else ""
    return (
        f"memory: about {megabytes(process_bytes + weights + beside + context)} MB with {names}: "
        f"{megabytes(weights)} MB of weights, {put_on}{megabytes(context)} MB of caches and buffers, "
        f"{megabytes(process_bytes)} MB of Python and libraries"
    )


def _judging(cells: Sequence[Sequence[JudgeForecast]]) -> Iterator[str]:
    """Yield what each judge will be asked about the cells, and how long it takes; `cells`: the judges of each."""
    judged = [judge for judges in cells for judge in judges]
    for name in dict.fromkeys(judge.judge for judge in judged):
        of_judge = [judge for judge in judged if judge.judge == name]
        verdicts = [judge.verdicts for judge in of_judge if judge.verdicts is not None]
        seconds = [judge.seconds for judge in of_judge if judge.seconds is not None]
        given = f"{sum(verdicts):,} verdicts" if len(verdicts) == len(of_judge) else "an unknown number of verdicts"
        time = (
            f"at most {sum(seconds) / 60:,.1f} minutes" if len(seconds) == len(of_judge) else "its minutes are unknown"
        )
        rubrics = named(dict.fromkeys(rubric for judge in of_judge for rubric in judge.rubrics))
        yield f"judge: {name} will judge {len(of_judge)} of {len(cells)} cells by {rubrics}: {given}; {time}"


def _bases(throughputs: Mapping[str, Throughput]) -> Iterator[str]:
    """Yield what minutes follow from: of variants that never ran, from the throughput of the plain model."""
    shown: list[tuple[str, Throughput]] = []
    for name, throughput in throughputs.items():
        basis = plain_name(name), throughput
        if basis not in shown:
            shown.append(basis)
            yield f"minutes: {_basis(name, throughput)}"


def _basis(model: str, throughput: Throughput) -> str:
    speed = f"{throughput.prefill:,.0f} and wrote {throughput.decode:,.0f} tokens a second"
    if not throughput.day:
        return f"{model} read {speed} in a trial of two seconds; at most, as replies may be shorter"
    return f"{model} read {speed} on {throughput.day}"


def _sum(forecasts: Sequence[Forecast]) -> Forecast:
    """Sum over all cells. The cache is the largest one, as cells run one after the other."""
    caches = (forecast.cache_bytes for forecast in forecasts if forecast.cache_bytes is not None)
    seconds = [forecast.seconds for forecast in forecasts if forecast.seconds is not None]
    sums = {name: sum(getattr(forecast, name) for forecast in forecasts) for name in _SUMMED}
    return replace(
        forecasts[0],
        cell="all",
        cache_bytes=max(caches, default=None),
        seconds=sum(seconds) if len(seconds) == len(forecasts) else None,
        **sums,
    )
