"""The clock of a run: a pytest plugin and a backend that measure the start, the computing time and the total time."""

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
from pytest_puma.models.weights import weights_digest

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

#: Imports of the product after its first sample. They take a second, which varies by more than the measured overhead.
_LATER = ("scipy.stats", "sklearn.compose", "sklearn.feature_extraction.text", "sklearn.linear_model")


@dataclass(slots=True, kw_only=True)
class Clock:
    """Times of a run. `aside`: seconds for the load of the model and for imports; `computing`: those in `llama_decode`.

    The rest are times of `time.time`: of the `command`, `ready` for the first sample, `began` to compute, `ended`.
    """

    aside: float = 0.0
    command: float = 0.0
    ready: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    computing: float = 0.0

    @property
    def start(self) -> float:
        """Seconds from the command to the first `llama_decode`, without `aside`."""
        return self.began - self.command - self.aside

    @property
    def took(self) -> float:
        """Seconds from the first sample to the end."""
        return self.ended - self.ready

    @property
    def outside(self) -> float:
        """Seconds of `took` outside of `llama_decode`."""
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
        """Decode, with the clock."""
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
        """Replace the product's backend; a run has one model."""
        backend = ClockedBackend(model, threads=self._threads, digest=weights_digest(model.path))
        self._clock = backend.clock
        return backend

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Record the end, after the summary."""
        self._clock.ended = time.time()
        self._path.write_text(json.dumps(asdict(self._clock)), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the file of the clock."""
    parser.addoption("--clock", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Start the clock."""
    config.pluginmanager.register(ClockPlugin(config.option.clock, config.option.puma_threads))
