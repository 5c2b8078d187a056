"""A project whose runs are real processes, in sessions of their own, so that a test can kill them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_puma.core import Response
from pytest_puma.responses.row import COLUMNS, sound_response
from tests.conftest import ADDOPTS

ROOT = Path(__file__).parents[2]
#: What a run needs on a loaded machine.
PATIENCE = 300
_SELECT = f"""
    SELECT model, scope.cell, digest, request, company, {", ".join(COLUMNS)}, row_check FROM response
    JOIN scope ON scope.id = response.scope JOIN engine ON engine.id = scope.engine ORDER BY response.id
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kept response; `cell` is without the model."""

    model: str
    cell: str
    request: str
    company: bytes
    response: Response


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that has ended: what it printed, and its exit status."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class CrashProject:
    """A project in a folder, with models of which only the names matter."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / ".puma" / "responses.sqlite"

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    # -- runs ------------------------------------------------------------------------------------

    def start(self, *arguments: str, pace: int = 0, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a run; `pace`: the maximum milliseconds of a step."""
        return subprocess.Popen(  # noqa: S603 - ourselves
            [*prefix, sys.executable, "-m", "pytest", *arguments],
            cwd=self.folder,
            env=environment(pace=pace),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, pace: int = 0, prefix: tuple[str, ...] = ()) -> Finished:
        """Run to the end."""
        with running(self.start(*arguments, pace=pace, prefix=prefix)) as process:
            output, _ = process.communicate(timeout=PATIENCE)
        return Finished(process.returncode, output)

    # -- what is there ---------------------------------------------------------------------------

    def notes(self, name: str) -> list[list[str]]:
        """The words of each whole line of a file of notes."""
        path = self.folder / f"{name}.txt"
        return [line.split(" ") for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def witnessed(self) -> set[tuple[str, str, str]]:
        """Cell, request and content of each response that a strategy received."""
        return {(cell, request, content) for cell, request, content in self.notes("witness")}

    def computed(self) -> Counter[tuple[str, str]]:
        """Count the computations of the response to each request of a cell."""
        return Counter((cell, key) for _, cell, *keys in self.notes("computed") for key in keys)

    def rows(self) -> list[Row]:
        """The kept responses, of a copy: the next run must find the files as the last one left them."""
        with self.copy() as connection:
            return [
                Row(model=model, cell=cell, request=row[0].hex(), company=row[1], response=response)
                for model, cell, engine, *row in connection.execute(_SELECT)
                if (response := sound_response((cell, engine), tuple(row))) is not None
            ]

    @contextmanager
    def copy(self) -> Iterator[sqlite3.Connection]:
        """Open a copy of the store with its log."""
        with tempfile.TemporaryDirectory() as folder:
            for path in (self.store, self.store.with_name(f"{self.store.name}-wal")):
                if path.exists():
                    shutil.copyfile(path, Path(folder, path.name))
            with closing(sqlite3.connect(Path(folder, self.store.name))) as connection:
                yield connection

    def is_sound(self) -> bool:
        """Return True if SQLite finds no damage."""
        with self.copy() as connection:
            return connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]

    def records(self) -> list[dict[str, Any]]:
        """The `run.json` of each finished run, the oldest first."""
        paths = sorted((self.folder / ".puma" / "runs").glob("*/run.json"), key=lambda path: path.stat().st_mtime_ns)
        return [json.loads(path.read_text(encoding="utf-8")) for path in paths]

    def result(self) -> Any:
        """The last `run.json` without what depends on the clock, on the run or on what was kept."""
        return timeless(self.records()[-1])


def environment(*, pace: int = 0) -> dict[str, str]:
    """The environment of a run; `pace`: the maximum milliseconds of a step."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PUMA_CRASH_PACE": str(pace),
        "PYTEST_ADDOPTS": ADDOPTS,
        "COLUMNS": "220",
    }


@contextmanager
def running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive its test."""
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """End a process with all its children at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()


#: Parts of `run.json` that say when and how a run was made, not what was answered.
_OF_THE_RUN = frozenset(
    {"number", "id", "started", "environment", "seconds", "speed", "peak_memory", "usage", "kept", "warnings", "notes"}
)
#: Measures that depend on the clock, or on what was computed in the same batch.
_COSTS = frozenset({"latency_mean", "latency_p50", "latency_p95", "tokens_per_second", "tokens_cached_mean"})


def timeless(value: Any) -> Any:
    """Return a record without what differs between two runs with the same answers."""
    if isinstance(value, Mapping):
        left_out = _OF_THE_RUN | _COSTS
        return {name: timeless(each) for name, each in value.items() if name not in left_out}
    return [timeless(each) for each in value] if isinstance(value, list) else value
