"""The overhead of pytest: a whole run of the product compared with the bare engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from pytest_puma.engine.engine import Engine
from tools.speed.clock import Clock, ClockedBackend
from tools.speed.contenders import Setting, timed
from tools.speed.workloads import DIRECT, workloads

_ROOT = Path(__file__).parents[2]
_TEST = """\
import pytest

@pytest.mark.puma("triage_jira")
def test_triage(puma):
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Overhead for triage under seven strategies, without the first sample of each.

    `around`: seconds of pytest outside of `llama_decode`, minus those of the bare engine (the computing time is the
    same, but varies by more than the overhead). `engine`: seconds of the bare engine, including `llama_decode`.
    `start`: seconds from the command to the first `llama_decode`, without the load of the model.
    """

    samples: int
    around: float
    engine: float
    start: float

    @property
    def share(self) -> float:
        """Overhead as a share of the engine's time."""
        return self.around / self.engine

    @property
    def milliseconds(self) -> float:
        """Overhead per sample."""
        return 1000 * self.around / self.samples


def overhead(setting: Setting, *, samples: int, rounds: int) -> Overhead:
    """Run both with one sample per cell and with many: the difference is the cost of the other samples."""
    arounds: list[float] = []
    engines: list[float] = []
    starts: list[float] = []
    for _ in range(rounds):
        first, bare = (_engine(setting, each) for each in (1, samples))
        one, whole = (_pytest(setting, each) for each in (1, samples))
        engines.append(bare.took - first.took)
        arounds.append((whole.outside - one.outside) - (bare.outside - first.outside))
        starts += [one.start, whole.start]
    return Overhead(
        samples=(samples - 1) * len(DIRECT), around=median(arounds), engine=median(engines), start=median(starts)
    )


def _engine(setting: Setting, samples: int) -> Clock:
    """Run the bare engine."""
    triage = workloads(setting.model, samples=samples, stories=())["triage"]
    backend = ClockedBackend(setting.model, threads=setting.threads)
    with closing(Engine(backend)) as engine:
        timed(engine, triage)
        backend.clock.ended = time.time()
    return backend.clock


def _pytest(setting: Setting, samples: int) -> Clock:
    """Run pytest in a process. It computes all answers, as no other run kept any in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder, "clock.json")
        Path(folder, "test_triage.py").write_text(_TEST, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", f"--clock={clock}"]
        command += [f"-p{plugin}" for plugin in ("pytest_puma.plugin", "tools.speed.clock")]
        command += [f"--puma-model={setting.path.resolve()}", f"--puma-samples={samples}"]
        command += [f"--puma-threads={setting.threads}", f"--puma-strategy={','.join(DIRECT)}"]
        # Other installed plugins do not count.
        environment = os.environ | {"PYTHONPATH": str(_ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        started = time.time()
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
        return replace(Clock(**json.loads(clock.read_text(encoding="utf-8"))), command=started)
