"""Forecast of the judging of a cell: its conversations with judges, held without their weights.

Replies of the model and reasons of a judge that the response store has are read as they are. The others are empty here,
and are taken to have the length that the forecast of the model has for replies, and their maximum length for reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import JUDGE, Generate, JudgeForecast, MetricError, Model, Origin, Request, Responder
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import DryBackend
from pytest_puma.engine.native.text import context_bytes
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.judge import judge
from pytest_puma.evaluation.predict import CellPredictions, predict
from pytest_puma.judges.agreement import AGREEMENT
from pytest_puma.responses.answer_source import AnswerSource
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingResponder
from pytest_puma.responses.reading import ReadingResponder
from pytest_puma.runs.throughput import Throughput


class _Asked(Engine):
    """An engine that counts what it is asked: `requests`, and the maximum length of all replies in tokens."""

    def __init__(self, backend: DryBackend) -> None:
        super().__init__(backend)
        self.requests = self.max_tokens = 0

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Queue and count the requests."""
        self.requests += len(requests)
        self.max_tokens += sum(request.max_tokens for request in requests if isinstance(request, Generate))
        return super().submit_all(requests, origins, beside=beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlanner:
    """Forecasts judges, those that are files here with their vocabulary in `backends`. `store`: None for none."""

    backends: Mapping[Model, DryBackend]
    throughputs: Mapping[Model, Throughput]
    weights_bytes: Mapping[Model, int]
    project: Path | None
    store: Path | None

    def forecast(self, cell: Cell, *, reply_tokens: float) -> tuple[JudgeForecast, ...]:
        """Return a forecast for each judge of a cell. `reply_tokens`: those of a reply that is not kept."""
        if not cell.judged:
            return ()
        with readable(self.store) as store:
            answered = predict(cell, self._answering(cell.model, store), project=self.project)
            judges: list[tuple[str, Model | None]] = [(model.name, model) for model in cell.judges]
            return tuple(
                self._judge(cell, answered, *named, store, reply_tokens) for named in judges or [(JUDGE, None)]
            )

    def _answering(self, model: Model, store: ResponseStore | None) -> Responder:
        """What answers as the model: empty replies and kept ones, or those that are recorded."""
        if model.source == "answers":
            return ReadingResponder(AnswerSource(model))
        return keeping(Engine(self.backends[model.loaded]), model, store)

    def _judge(  # noqa: PLR0917 - the parts of one forecast
        self,
        cell: Cell,
        answered: CellPredictions,
        name: str,
        model: Model | None,
        store: ResponseStore | None,
        reply_tokens: float,
    ) -> JudgeForecast:
        known = model is not None and model.loaded in self.backends
        rubrics = tuple(metric.name for metric in cell.judged if not metric.name.endswith(AGREEMENT))
        # A server and a plugin have no vocabulary here: that of the model counts their verdicts, or of another file.
        asked = model if model is not None and known else cell.model if cell.model.computes else None
        asked = asked or next(iter(self.backends), None)
        if asked is None:
            return JudgeForecast(judge=name, rubrics=rubrics)
        backend = self.backends[asked.loaded]
        backend.opened = (0, 0)
        backend.vary(asked.variant)
        engine = _Asked(backend)
        try:
            judged = judge(cell, answered, [keeping(engine, asked, store if known else None)])
        except MetricError:  # it cannot read an empty reply
            return JudgeForecast(judge=name, rubrics=rubrics)
        turns = [turn for prediction in judged.predictions for turn in prediction.transcripts[JUDGE].turns]
        verdicts = sum(bool(turn.continuations) for turn in turns)
        if not known:
            return JudgeForecast(judge=name, rubrics=rubrics, verdicts=verdicts)
        read = engine.speed.prefill_tokens + engine.speed.decode_tokens + engine.requests * reply_tokens
        return JudgeForecast(
            judge=name,
            rubrics=rubrics,
            verdicts=verdicts,
            weights_bytes=self.weights_bytes[asked.loaded],
            context_bytes=context_bytes(asked, backend.opened, sequences=backend.sequences),
            # The verdict reads the reasons.
            seconds=self.throughputs[asked].time(round(read) + engine.max_tokens, engine.max_tokens),
        )


def keeping(engine: Engine, model: Model, store: ResponseStore | None) -> Responder:
    """Return an engine that takes what a store has from there."""
    return engine if store is None else KeepingResponder(engine, store, model)


@contextmanager
def readable(path: Path | None) -> Iterator[ResponseStore | None]:
    """Open a response store to read kept answers; None for none."""
    if path is None:
        yield None
        return
    with closing(ResponseStore(path, readonly=True)) as store:
        yield store
