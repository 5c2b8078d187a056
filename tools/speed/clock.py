"""A pytest plugin and a backend of the bench: when a run first computed, how long it did so, and how long it took."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.core import Model, Step
from pytest_puma.engine.native import NativeBackend
from pytest_puma.models import weights_digest

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

#: What the product imports behind its first sample. It takes a second, and scatters by more than is looked for.
_LATER = ("scipy.stats", "sklearn.compose", "sklearn.feature_extraction.text", "sklearn.linear_model")


@dataclass(slots=True, kw_only=True)
class Clock:
    """`aside`: seconds of the model's load and of later imports, done before it. `computing`: those of `llama_decode`.

    The rest are seconds of `time.time`: the `command`, `ready` for the first sample, `began` to compute, `ended`.
    """

    aside: float = 0.0
    command: float = 0.0
    ready: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    computing: float = 0.0

    @property
    def start(self) -> float:
        """Seconds from the command to the first `llama_decode`, less what was done aside."""
        return self.began - self.command - self.aside

    @property
    def took(self) -> float:
        """Seconds from the first sample to the end."""
        return self.ended - self.ready

    @property
    def outside(self) -> float:
        """Those of them that were not spent in `llama_decode`."""
        return self.took - self.computing


class ClockedBackend(NativeBackend):
    """The product's backend with its clock."""

    def __init__(self, model: Model, *, threads: int, digest: str = "") -> None:
        started = time.time()
        for name in _LATER:
            import_module(name)
        super().__init__(model, threads=threads, digest=digest)
        ready = time.time()
        self.clock = Clock(aside=ready - started, ready=ready)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """As ever."""
        self.clock.began = self.clock.began or time.time()
        started = time.perf_counter()
        logits = super().decode(steps)
        self.clock.computing += time.perf_counter() - started
        return logits


class ClockPlugin:
    """Writes the clock of the run's model to a file."""

    def __init__(self, path: Path, threads: int) -> None:
        self._path, self._threads = path, threads
        self._clock = Clock()

    def pytest_puma_backend(self, model: Model) -> ClockedBackend:
        """In place of the product's own; a run has one model."""
        backend = ClockedBackend(model, threads=self._threads, digest=weights_digest(model.path))
        self._clock = backend.clock
        return backend

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """The end, behind the summary."""
        self._clock.ended = time.time()
        self._path.write_text(json.dumps(asdict(self._clock)), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the clock is to be written."""
    parser.addoption("--clock", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Start the clock."""
    config.pluginmanager.register(ClockPlugin(config.option.clock, config.option.puma_threads))
