"""What answers a cell: an engine with the response store around it, or a reader of answers. And what judges answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pytest

from pytest_puma.core import JUDGE, MODEL, Backend, DataError, Model, Responder, ResponderRole, Sandbox
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation.cell import Cell
from pytest_puma.responses.answer_source import AnswerSource
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingResponder
from pytest_puma.responses.reading import ReadingResponder, Source, StoreSource
from pytest_puma.responses.upkeep import finish_run
from pytest_puma.responses.verdict_source import VerdictSource
from pytest_puma.runs.recorded_run import RunSource
from pytest_puma.session.items.failing import without_traceback
from pytest_puma.session.settings.cluster import cluster_of
from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.workers.xdist import run_id

#: The open judges.
_JUDGES: pytest.StashKey[dict[Model, Responder]] = pytest.StashKey()
_SANDBOX: pytest.StashKey[Sandbox] = pytest.StashKey()
_STORE: pytest.StashKey[ResponseStore] = pytest.StashKey()


@contextmanager
def open_responder(config: pytest.Config, model: Model) -> Iterator[Responder]:
    """Open the engine of a model, or the reader of its answers, and close it at the end.

    Judges of an earlier model that leave it no memory are freed; they open again when they are needed.
    """
    with without_traceback():
        judges = config.stash.setdefault(_JUDGES, {})
        if judges and model.size > psutil.virtual_memory().available:
            for judge in judges.values():
                judge.close()
            judges.clear()
        responder = _opened(config, model, MODEL)
    try:
        yield responder
    finally:
        responder.close()


def _opened(config: pytest.Config, model: Model, role: ResponderRole) -> Responder:
    if (source := _source(config, model, role)) is not None:
        return ReadingResponder(source)
    return _keeping(config, model, _computing(config, model, role))


def _source(config: pytest.Config, model: Model, role: ResponderRole) -> Source | None:
    """Return the source of answers that exist; None for a model that computes them."""
    rescored = settings_of(config).request.rescored
    if model.source == "run" and rescored is not None:
        return RunSource(rescored)
    if model.source == "answers":
        return AnswerSource(model) if role == MODEL else VerdictSource(model)
    return StoreSource(_store(config), model) if model.source == "store" else None


def judges_of(config: pytest.Config, cell: Cell) -> list[Responder]:
    """Return the judges of a cell, each opened when it is first needed; without names, that of a plugin, if any."""
    if not cell.judged:
        return []
    opened, models = config.stash.setdefault(_JUDGES, {}), cell.judges or (replace(cell.model, name=JUDGE),)
    for model in models:
        if model not in opened and (judge := _judge(config, cell, model)) is not None:
            config.add_cleanup(judge.close)
            opened[model] = judge
    return [opened[model] for model in models if model in opened]


def unopened_judges(config: pytest.Config, cell: Cell) -> list[Model]:
    """Return the judges of a cell that are files and not open yet."""
    opened = config.stash.setdefault(_JUDGES, {})
    return [model for model in cell.judges if model not in opened and model.size]


def _judge(config: pytest.Config, cell: Cell, model: Model) -> Responder | None:
    """Open a judge; None if none is named and no plugin returns one."""
    if cell.judges:
        return _opened(config, model, JUDGE)
    judge: Responder | None = config.hook.pytest_puma_responder(model=cell.model, role=JUDGE)
    return None if judge is None else _keeping(config, model, judge)


def sandbox_of(config: pytest.Config) -> Sandbox:
    """Return what runs the programs of models, opened when it is first needed."""
    if _SANDBOX not in config.stash:
        from pytest_puma.sandbox.pool import ProgramPool
        from pytest_puma.session.workers.xdist import own_share

        pool = ProgramPool(settings_of(config).request.run_code, own_share(config).threads)
        config.add_cleanup(pool.close)
        config.stash[_SANDBOX] = pool
    return config.stash[_SANDBOX]


def _keeping(config: pytest.Config, model: Model, responder: Responder) -> Responder:
    """Return a responder with the store around it, or as it is: without a store, or if it has no identity."""
    mode = settings_of(config).storage.mode
    if mode == "off" or not responder.identity:
        return responder
    return KeepingResponder(responder, _store(config), model, mode=mode)


def _computing(config: pytest.Config, model: Model, role: ResponderRole) -> Responder:
    """Return the responder of a plugin, a server or a cluster, else the engine over a plugin's backend or llama.cpp."""
    responder: Responder | None = config.hook.pytest_puma_responder(model=model, role=role)
    if responder is not None:
        return responder
    if model.endpoint is not None:
        from pytest_puma.servers.responder import ServerResponder

        return ServerResponder(model.endpoint, judges=role == JUDGE)
    if model.source == "cluster":
        from pytest_puma.engine.cluster.responder import ClusterResponder

        return ClusterResponder(cluster_of(config), model, threads=settings_of(config).request.threads)
    backend: Backend | None = config.hook.pytest_puma_backend(model=model)
    backend = _native(config, model) if backend is None else backend
    if not settings_of(config).request.energy:
        return Engine(backend)
    from pytest_puma.engine.energy import EnergyMeter

    return Engine(backend, EnergyMeter(gpu=backend.signature.get("gpu") == "True"))


def _native(config: pytest.Config, model: Model) -> Backend:
    from pytest_puma.engine.native import opened
    from pytest_puma.session.workers.xdist import own_share

    share = own_share(config)
    return opened(model, threads=settings_of(config).request.threads or share.threads, gpu=share.gpu)


def _store(config: pytest.Config) -> ResponseStore:
    """Return the store, which is opened when it is first needed."""
    if _STORE not in config.stash:
        settings = settings_of(config)
        name, started = run_id(config)
        config.stash[_STORE] = ResponseStore(
            settings.storage.path,
            run=name,
            started=started.isoformat(timespec="seconds"),
            keep_prompts=settings.storage.prompts,
            readonly=settings.storage.offline,
        )
    return config.stash[_STORE]


def finish_store(config: pytest.Config) -> list[str]:
    """End the run for the store; return a line if it was too large. Called once, after all processes have finished."""
    settings = settings_of(config).storage
    if _STORE in config.stash:
        config.stash[_STORE].close()
    if settings.mode == "off":
        return []
    try:
        pruned = finish_run(settings.path, settings.megabytes)
    except (DataError, OSError, sqlite3.Error) as error:
        return [f"the response store: {error}"]
    if pruned is None:
        return []
    size = f"{settings.path.name} has {pruned.size / 2**20:.0f} MB (puma_store_mb is {settings.megabytes})"
    return [f"the response store: removed {pruned.answers:,} answers of {pruned.cells} cells; {size}"]
