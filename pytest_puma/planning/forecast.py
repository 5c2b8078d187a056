"""Forecast of a run without the weights: tokens, cache, time, and the power of its gates.

Time follows from the throughput of the model here, or, for one that never ran here, from about two seconds of work
(`calibrate`). Power follows from what the metrics declare and from the gold answers: nothing has moved yet, so all
movement is assumed (`gates.power`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import perf_counter

from pytest_puma.core import Forecast, Gate, JudgeForecast, Model, Origin, Power, Step, Usage
from pytest_puma.core.change import Spread
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native import DryBackend, NativeBackend, smoke_test
from pytest_puma.engine.native.made_weights import planned_size
from pytest_puma.engine.native.text import context_bytes
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.evaluation.tasks import by_sample, tasks_of
from pytest_puma.gates.power import Compared, detection_of, of_gate
from pytest_puma.metrics import declaration
from pytest_puma.models.beside import control_bytes
from pytest_puma.models.gguf import GgufFile
from pytest_puma.models.header import bytes_of
from pytest_puma.models.quantised import at_hand, weights_path
from pytest_puma.models.resolve import inspect_model
from pytest_puma.models.weights import known_digest
from pytest_puma.planning.distance_forecast import DistancePlanner
from pytest_puma.planning.judge_forecast import JudgePlanner
from pytest_puma.planning.settings import Settings
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingResponder
from pytest_puma.runs.throughput import Throughput
from pytest_puma.strategies import Task

#: Seconds of reading, and of writing, in the calibration of a model.
_SECONDS = 1.0
#: Tokens of a prompt: few, as a large model reads less than this in a second.
_PROMPT = 128
_KV_SLOTS = 4096


def plan(
    cells: Sequence[Cell], throughputs: Mapping[Model, Throughput], settings: Settings
) -> tuple[list[Forecast], list[tuple[JudgeForecast, ...]]]:
    """Forecast all cells that are computed, and the judges of each other one, each vocabulary loaded once.

    `throughputs` has an entry for every model and judge that computes.
    """
    store = settings.storage.path if settings.storage.mode == "mix" and settings.storage.path.is_file() else None
    with ExitStack() as opened:
        files = {model.loaded: _file(model.loaded) for model in throughputs}
        backends = {}
        for model, file in files.items():
            smoke_test(at_hand(model))
            # Weights whose digest is unknown never ran here, and have no kept answers.
            path = weights_path(model)
            digest = known_digest(path) if store is not None and path is not None else ""
            limit, threads = file.context_length or 0, settings.request.threads or 0
            backend = DryBackend(model, context_limit=limit, digest=digest, threads=threads)
            backends[model] = opened.enter_context(closing(backend))
        judges = JudgePlanner(
            backends=backends,
            throughputs=throughputs,
            weights_bytes={model: file.size for model, file in files.items()},
            project=settings.project,
            store=store,
        )
        distances = DistancePlanner(cells, project=settings.project, store=store)
        forecasts = []
        for cell in [cell for cell in cells if cell.model.computes]:
            tasks, model = tasks_of(cell, settings.project), cell.model.loaded
            backends[model].vary(cell.model.variant)
            throughput = throughputs[cell.model]
            forecast = _forecast(cell, tasks, backends[model], files[model], throughput, store=store)
            scored = distances.tokens(cell, backends[model], reply_tokens=forecast.reply_tokens)
            forecasts.append(
                replace(
                    forecast,
                    loaded=model.name,
                    controls=control_bytes(cell.model),
                    distance_tokens=scored,
                    seconds=None if forecast.seconds is None else forecast.seconds + scored / throughput.prefill,
                    judges=judges.forecast(cell, reply_tokens=forecast.reply_tokens),
                )
            )
        return forecasts, [judges.forecast(cell, reply_tokens=0) for cell in cells if not cell.model.computes]


def _file(model: Model) -> GgufFile:
    """The header of a model with the size of its own weights, also of those that are not made yet."""
    path = weights_path(model)
    return inspect_model(path) if path is not None else replace(inspect_model(model.path), size=planned_size(model))


def _forecast(
    cell: Cell,
    tasks: Sequence[Task],
    backend: DryBackend,
    file: GgufFile,
    throughput: Throughput,
    *,
    store: Path | None,
) -> Forecast:
    """Run the cell's conversations with a model that answers nothing."""
    backend.opened = (0, 0)
    samples = [trials[0] for trials in by_sample(tasks)]
    states = run_conversations([cell.strategy.converse(task) for task in tasks], Engine(backend))
    usage = Usage.total(response.usage for state in states for response in state.responses)
    answered = [() if state.answer is None else state.answer.responses for state in states]
    responses = [response for answers in answered for response in answers]
    scored = sum(response.usage.decoded_tokens for response in responses if response.finish == "scored")
    overflows = {
        task.sample.id
        for task, answers in zip(tasks, answered, strict=True)
        if any(response.finish == "overflow" for response in answers)
    }
    asked = (pair for state in states for pair in zip(state.limits, state.responses, strict=True))
    max_tokens = sum(limit for limit, response in asked if response.finish != "overflow")
    kept, share, rest = 0, 1.0, usage.prompt_tokens - usage.cached_tokens + scored
    if store is not None and backend.signature:
        kept, share, rest = _remaining(cell, tasks, backend, store) or (kept, share, rest)
    trials, length = (round(share * number) for number in (len(tasks), max_tokens))
    written = throughput.reply_tokens(cell.name, trials=trials, max_tokens=length)
    return Forecast(
        cell=cell.id,
        model=cell.model.name,
        weights_bytes=file.size,
        samples=len(samples),
        trials=len(tasks),
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        max_tokens=max_tokens,
        overflows=len(overflows),
        cache_bytes=_cache_bytes(file, cell.model, backend.opened[0]),
        context_bytes=context_bytes(cell.model, backend.opened, sequences=backend.sequences),
        seconds=throughput.time(rest, written * (2 if "guidance" in cell.strategy.needs else 1)),  # after two prompts
        kept=kept,
        reply_tokens=written / trials if trials else 0.0,
        metric=cell.scenario.primary_metric(),
        difference=detectable(cell, samples),
        powers=powers(cell, samples),
    )


def _cache_bytes(file: GgufFile, model: Model, kv_slots: int) -> int | None:
    """The bytes of a model's KV cache in the type that its variant has; None if the file does not specify them."""
    kv = (None if model.variant is None else model.variant.value("kv")) or "f16"
    return None if file.kv_slot_bytes is None else round(file.kv_slot_bytes * bytes_of(kv) / bytes_of("f16") * kv_slots)


def _remaining(cell: Cell, tasks: Sequence[Task], backend: DryBackend, path: Path) -> tuple[int, float, int] | None:
    """Return the answers that the store has, the share of those to compute, and their prompt and scored tokens.

    The conversations get the kept answers, and empty ones in place of the others. None if no answer is kept. A strategy
    that reads an empty answer may ask less than it will.
    """
    engine = Engine(backend)
    with closing(ResponseStore(path, readonly=True)) as store:
        keeping = KeepingResponder(engine, store, cell.model)
        # The parts of the signature are for messages.
        keeping.begin(cell.id, {})
        origins = [Origin(cell.id, task.sample, task.trial) for task in tasks]
        run_conversations([cell.strategy.converse(task) for task in tasks], keeping, origins=origins)
        kept = keeping.provenance().kept
    if kept is None:
        return None
    return kept.kept, 1 - kept.kept / kept.responses, engine.speed.prefill_tokens + engine.speed.decode_tokens


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
    return Compared.before([float(task.sample.gold) for task in samples])


def calibrate(model: Model, *, threads: int | None) -> Throughput:
    """Measure a model: it reads prompts, then writes replies to as many requests at once as a run has.

    The time of replies is that of short texts, so that of long ones is underestimated. Raises an `EngineError`.
    """
    smoke_test(model)
    with closing(NativeBackend(model, threads=threads or cores())) as backend:
        sequences = range(backend.parallel)
        # The first decode also reads the weights from the disk.
        backend.open(_KV_SLOTS)
        backend.decode([Step(0, 0, range(_PROMPT), _PROMPT - 1)])

        def read(_turn: int) -> int:
            backend.open(_KV_SLOTS)
            backend.decode([Step(0, 0, range(_PROMPT), _PROMPT - 1)])
            return _PROMPT

        def write(turn: int) -> int:
            backend.decode([Step(sequence, turn, (sequence,), 0) for sequence in sequences])
            return len(sequences)

        prefill = _rate(read)
        backend.open(_KV_SLOTS)
        return Throughput(prefill=prefill, decode=_rate(write, turns=_KV_SLOTS // len(sequences)), day="")


def _rate(work: Callable[[int], int], *, turns: int | None = None) -> float:
    """Return the tokens per second of work that is repeated for a second."""
    start, tokens = perf_counter(), 0
    for turn in count():
        tokens += work(turn)
        seconds = perf_counter() - start
        if seconds >= _SECONDS or turn + 1 == turns:
            break
    return tokens / seconds
