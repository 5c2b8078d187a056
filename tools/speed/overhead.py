"""What pytest around the engine costs: a whole run of the product beside the bare engine."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tools.speed.contenders import Setting, opened, timed
from tools.speed.workloads import DIRECT, workloads

_TEST = """\
import pytest

@pytest.mark.puma("triage_jira")
def test_triage(puma):
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Of triage under seven strategies: seconds of pytest and of the engine alone beyond the first sample of each.

    `start`: a whole process with one sample of one cell, less the model's load; that sample starts well before its end.
    """

    samples: int
    pytest: float
    engine: float
    start: float

    @property
    def share(self) -> float:
        """Of the engine's time, what comes on top."""
        return self.pytest / self.engine - 1

    @property
    def milliseconds(self) -> float:
        """The same for each sample."""
        return 1000 * (self.pytest - self.engine) / self.samples


def overhead(setting: Setting, *, samples: int, rounds: int) -> Overhead:
    """Run both with one sample a cell and with many: the difference has no start and no load in it."""
    pytests: list[float] = []
    engines: list[float] = []
    starts: list[float] = []
    for _ in range(rounds):
        first, load = _engine(setting, 1)
        starts.append(_pytest(setting, 1, DIRECT[:1]) - load)
        begun = _pytest(setting, 1, DIRECT)
        engines.append(_engine(setting, samples)[0] - first)
        pytests.append(_pytest(setting, samples, DIRECT) - begun)
    return Overhead(
        samples=(samples - 1) * len(DIRECT), pytest=median(pytests), engine=median(engines), start=median(starts)
    )


def _engine(setting: Setting, samples: int) -> tuple[float, float]:
    """Seconds of the work, and of the load before it."""
    asked = workloads(setting.model, samples=samples, stories=())["triage"]
    started = time.perf_counter()
    with opened(setting) as engine:
        loaded = time.perf_counter() - started
        return timed(engine, asked).seconds, loaded


def _pytest(setting: Setting, samples: int, strategies: Sequence[str]) -> float:
    """Seconds of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_triage.py").write_text(_TEST, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", f"--puma-model={setting.path.resolve()}"]
        command += [f"--puma-samples={samples}", f"--puma-threads={setting.threads}"]
        command += [f"--puma-strategy={','.join(strategies)}"]
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
        return time.perf_counter() - started
