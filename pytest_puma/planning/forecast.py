"""Forecast of a run without the weights: tokens, cache, time, and the power of its gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from pytest_puma.core import Forecast, Model, Usage
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend, smoke_test
from pytest_puma.engine.native.memory import context_bytes
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.evaluation.tasks import by_sample, tasks_of
from pytest_puma.models import GgufFile, inspect_model, known_digest
from pytest_puma.planning.powers import detectable, powers
from pytest_puma.planning.remaining import KeptAnswers, Remaining
from pytest_puma.planning.storage import Storage
from pytest_puma.runs.throughput import Throughput
from pytest_puma.strategies import Task


def plan(
    cells: Sequence[Cell],
    throughputs: Mapping[Model, Throughput],
    *,
    project: Path | None = None,
    store: Storage | None = None,
    threads: int | None = None,
) -> list[Forecast]:
    """Forecast all cells, each vocabulary loaded once. `throughputs` has an entry for every model.

    `store`, `threads`: settings of the run, which decide what it takes from the store.
    """
    kept = KeptAnswers(store or Storage(mode="off"))
    with ExitStack() as opened:
        files = {model: inspect_model(model.path) for model in throughputs}
        for model in throughputs:
            smoke_test(model)
        backends = {
            model: opened.enter_context(closing(_dry_backend(model, file, threads=threads, named=kept.exist)))
            for model, file in files.items()
        }
        return [
            _forecast(
                cell, tasks_of(cell, project), backends[cell.model], files[cell.model], throughputs[cell.model], kept
            )
            for cell in cells
        ]


def _dry_backend(model: Model, file: GgufFile, *, threads: int | None, named: bool) -> DryBackend:
    """A model without its weights. Those whose digest is unknown never ran here, and have no kept answers."""
    digest = known_digest(model.path) if named else ""
    return DryBackend(model, context_limit=file.context_length or 0, digest=digest, threads=threads or 0)


def _forecast(  # noqa: PLR0917 - the parts of one loop
    cell: Cell,
    tasks: Sequence[Task],
    backend: DryBackend,
    file: GgufFile,
    throughput: Throughput,
    kept: KeptAnswers,
) -> Forecast:
    """Run the cell's conversations with a model that answers nothing."""
    backend.opened = (0, 0)
    samples = [trials[0] for trials in by_sample(tasks)]
    states = run_conversations([cell.strategy.converse(task) for task in tasks], Engine(backend))
    usage = Usage.total(response.usage for state in states for response in state.responses)
    answered = [() if state.answer is None else state.answer.responses for state in states]
    responses = [response for own in answered for response in own]
    scored = sum(response.usage.decoded_tokens for response in responses if response.finish == "scored")
    overflows = {
        task.sample.id
        for task, own in zip(tasks, answered, strict=True)
        if any(response.finish == "overflow" for response in own)
    }
    replies = sum(response.finish not in {"scored", "overflow"} for response in responses)
    computed = usage.prompt_tokens - usage.cached_tokens + scored
    max_tokens = replies * (tasks[0].generation.max_tokens or 0)
    cache_bytes = None if file.kv_slot_bytes is None else file.kv_slot_bytes * backend.opened[0]
    rest = kept.remaining(cell, tasks, backend) or Remaining(kept=0, tokens=computed, share=1.0)
    trials, length = (round(rest.share * number) for number in (len(tasks), max_tokens))
    seconds = throughput.seconds(cell.name, prompt_tokens=rest.tokens, trials=trials, max_tokens=length)
    return Forecast(
        cell=cell.id,
        model=cell.model.name,
        weights_bytes=file.size,
        samples=len(samples),
        trials=len(tasks),
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        scored_tokens=scored,
        max_tokens=max_tokens,
        overflows=len(overflows),
        cache_bytes=cache_bytes,
        context_bytes=context_bytes(cell.model, backend.opened, sequences=backend.sequences),
        seconds=seconds,
        kept=rest.kept,
        metric=cell.scenario.primary_metric(),
        difference=detectable(cell, samples),
        powers=powers(cell, samples),
    )
