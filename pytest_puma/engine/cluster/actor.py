"""What runs on a worker of a cluster: the search for a model's file, and an engine as an actor.

Dask calls the methods of an actor one at a time, in one thread. Texts, numbers and our own nouns alone travel.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_puma.codec.exchange import requests_from, responses_bytes
from pytest_puma.core import EngineError, Identity, Model, PumaError, Response, Speed
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.machine import cores
from pytest_puma.engine.version import BATCHING_VERSION, ENGINE_VERSION
from pytest_puma.models.names import name_from_file
from pytest_puma.models.resolve import find_model, inspect_model
from pytest_puma.models.search import default_directories
from pytest_puma.models.weights import stamps_of, weights_digest
from pytest_puma.platform.bundled import bundled_folder


def own_version() -> str:
    """Return the versions of pytest-puma, of its answers and of its batches: the same on all machines of a run."""
    return f"{version('pytest-puma')} (engine {ENGINE_VERSION}, batches {BATCHING_VERSION})"


def find(place: str, folders: Sequence[str]) -> dict[str, Any]:
    """Find the model of a place on this machine, in these folders or else in those that a run here would search.

    Return its `name`, the `digest` of its weights and the `stamps` of its files, or the `fault` that it has; and the
    `host` and the `version` of this machine, so that others can read this of any version.
    """
    found: dict[str, Any] = {"host": platform.node(), "version": own_version(), "fault": ""}
    try:
        path = _path(place, folders)
        inspect_model(path)
        stamps = [tuple(stamp) for stamp in stamps_of(path)]
        return {**found, "name": name_from_file(path.name), "digest": weights_digest(path), "stamps": stamps}
    except PumaError as error:
        return {**found, "fault": str(error)}


def _path(place: str, folders: Sequence[str]) -> Path:
    searched = [*map(Path, folders)] or [*default_directories(Path.cwd())]
    return find_model(place, [*searched, bundled_folder("models")]).absolute()


class EngineActor:
    """An engine, loaded by `load`. Its responder is `engine.cluster.responder.ClusterResponder`."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    def load(self, model: Model, folders: Sequence[str], threads: int | None, processes: int) -> Identity:
        """Load the model, with a share of the cores if `threads` is None; return what answers.

        `processes`: the number of engines that may compute on this machine.
        """
        from pytest_puma.engine.native import opened

        path = _path(str(model.path), folders)
        local = replace(model, path=path, source="weights", stamps=stamps_of(path))
        self._engine = Engine(opened(local, threads=threads or max(1, cores() // processes)))
        identity = self._engine.identity
        if identity is None:
            msg = f"{model.name}: the engine has no digest of its weights: a defect of pytest-puma, please report it"
            raise EngineError(msg)
        return replace(identity, signature=dict(identity.signature))

    def step(self, submitted: Sequence[tuple[bytes, bytes]], *, anew: bool) -> tuple[bytes, Speed]:
        """Queue requests, each with those beside them, and compute until a response is complete.

        `anew`: forget all earlier requests. Return the responses, and the speed since then.
        """
        if self._engine is None:
            msg = "the actor of an engine has no model: a defect of pytest-puma, please report it"
            raise EngineError(msg)
        if anew:
            self._engine.reset()
        for requests, beside in submitted:
            self._engine.submit_all(requests_from(requests), beside=requests_from(beside))
        finished: dict[int, Response] = {}
        while not finished and not self._engine.idle:
            finished = self._engine.step()
        return responses_bytes(finished), self._engine.speed

    def close(self) -> None:
        """Free the model. May be called twice."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def __del__(self) -> None:
        # Of a run that was killed, Dask drops the actors.
        self.close()
