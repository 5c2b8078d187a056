"""Runs that a signal ends at a random moment, and what they must leave behind.

    python -m tests.crash.rounds SIGINT --rounds 100            # the signal, once
    python -m tests.crash.rounds SIGINT --times 2 --workers 2 --group
    python -m tests.crash.rounds SIGKILL --rounds 50 --real     # the bundled model in place of a script

`--group` sends the signal to the workers too, as a terminal does. A line for each round says when the signal came, the
exit status, the seconds until the end and the faults; the exit status of the script is that of the faults.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import copyfile

import pytest_puma
from tests.crash.conftest import INI
from tests.crash.project import environment

MODEL = Path(pytest_puma.__file__).parent / "bundled" / "models" / "puma-tiny.gguf"
SAMPLES = 8
#: The moment counts from the start of the first test, so that a slow machine changes little.
CLOCK = """
import os
import signal
import threading
import time

def pytest_runtest_logstart():
    name, after, times, group = os.environ["PUMA_CRASH"].split(":")
    if "PYTEST_XDIST_WORKER" not in os.environ and not started:
        started.append(True)
        shot = (signal.Signals[name], float(after), int(times), group)
        threading.Thread(target=shoot, args=shot, daemon=True).start()

started = []

def shoot(number, after, times, group):
    for _ in range(times):
        time.sleep(after)
        print("shot", time.time(), file=open("shots.txt", "a"), flush=True)
        os.killpg(os.getpgrp(), number) if group else os.kill(os.getpid(), number)
        after = after % 0.3
"""
SLOW = """
import random
from pytest_puma.testing import ScriptedBackend

class Slow(ScriptedBackend):
    def decode(self, steps):
        time.sleep(random.uniform(0.005, 0.04))
        return super().decode(steps)

def pytest_puma_backend(model):
    time.sleep(0.1)
    return Slow(lambda prompt: "It is broken.\\nAnswer: Major" if "Answer:" in prompt else "Major", parallel=4)
"""
TESTS = f"""
import pytest

@pytest.mark.puma(
    "triage_jira",
    strategies=["zero_shot", "option_scoring", "egi", "self_consistency_5"],
    samples={SAMPLES},
    gates=["accuracy >= 0.05", "accuracy >= naive.majority"],
)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot"], samples={SAMPLES})
def test_estimation(puma):
    pass
"""
#: What no output may show: tracebacks through this package, and messages of Python and of llama.cpp on lost exceptions.
NEVER = (
    "INTERNALERROR",
    "Exception ignored",
    "Fatal Python error",
    "terminate called",
    "GGML_ASSERT",
    "ResourceWarning",
)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A run that was ended: its exit status and output, and the seconds from the first signal, if it came in time."""

    status: int
    output: str
    seconds: float | None


def make(folder: Path, *, real: bool) -> None:
    """A project with ten cells of two models."""
    (folder / "conftest.py").write_text(CLOCK + ("" if real else SLOW), encoding="utf-8")
    (folder / "test_cells.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text(INI, encoding="utf-8")
    for name in ("a", "b"):
        copyfile(MODEL, folder / f"{name}.gguf")


def ended(folder: Path, *arguments: str, shot: str, workers: int = 0) -> Ended:
    """The run of a project that ends by `shot`: `SIGNAL:SECONDS:TIMES:GROUP`."""
    # A process in the background of a shell ignores SIGINT, and so would those that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    xdist = ("-n", str(workers)) if workers else ("-p", "no:xdist")
    always = ("-p", "no:cacheprovider", "--puma-model=a.gguf", "--puma-model=b.gguf")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "pytest", *always, *xdist, *arguments],
        cwd=folder,
        env=environment() | {"PUMA_CRASH": shot},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += "\nthe run hangs"
    shots = folder / "shots.txt"
    first = float(shots.read_text(encoding="utf-8").split()[1]) if shots.exists() else None
    return Ended(status=process.returncode, output=output, seconds=None if first is None else time.time() - first)


def faults(folder: Path, run: Ended, *, recorded: bool) -> list[str]:
    """Faults of a run and of the files that it left; `recorded`: whether it could write its record."""
    problems = [text for text in (*NEVER, "the run hangs") if text in run.output]
    # pytest has a traceback for a second interrupt, with that of the first one.
    traceback = "pytest_puma/" in run.output.partition("Traceback (most recent")[2]
    problems += ["a traceback of ours"] if recorded and traceback else []
    # Python ends by SIGINT if one came inside `exec` of a text, as of a data class, though pytest has dealt with it.
    problems += [f"status {run.status}"] if recorded and run.status not in {0, 2, -signal.SIGINT} else []
    problems += [f"left: {path.name}" for path in folder.rglob(".*.*") if path.name != ".gitignore"] if recorded else []
    for run_folder in (folder / ".puma" / "runs").glob("*"):
        cells = whole_cells(run_folder, problems if recorded else [])
        record = run_folder / "run.json"
        if recorded and not record.exists():
            problems.append("no run.json")
        elif recorded:
            data = json.loads(record.read_text(encoding="utf-8"))
            problems += [] if {each["cell"] for each in data["outcomes"]} == cells else ["run.json has other cells"]
            problems += ["a cell failed"] if data["faults"] else []
            problems += [] if len(cells) == 10 or data["problems"] else ["nothing says that the run was stopped"]
    return problems


def whole_cells(run_folder: Path, problems: list[str]) -> set[str]:
    """The cells in `predictions.jsonl`; adds what is wrong with it."""
    file = run_folder / "predictions.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    heads: Counter[str] = Counter()
    predictions: Counter[str] = Counter()
    for line in lines:
        if not line.endswith("\n"):
            problems.append("half a line")
            continue
        data = json.loads(line)
        (heads if data["kind"] == "cell" else predictions)[data["cell"]] += 1
    problems += [f"{cell} twice" for cell, count in heads.items() if count > 1]
    problems += [f"{count} predictions of {cell}" for cell, count in predictions.items() if count != SAMPLES]
    return {*heads}


def main() -> int:
    """Run the rounds and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("signal", choices=["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="the latest moment of the signal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--group", action="store_true")
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    random, tally, waits = Random(options.seed), Counter[str](), []  # noqa: S311
    for number in range(options.rounds):
        after = random.uniform(0.0, options.seconds)
        shot = f"{options.signal}:{after}:{options.times}:{'group' if options.group else ''}"
        with tempfile.TemporaryDirectory() as name:
            run, wrong = one_round(Path(name), shot, workers=options.workers, real=options.real)
            cells = sum(len(whole_cells(each, [])) for each in (Path(name) / ".puma" / "runs").glob("*"))
        tally[f"ended with {run.status}"] += 1
        tally.update(wrong)
        waits += [] if run.seconds is None else [run.seconds]
        say(f"{number}: {after:.2f} s, status {run.status}, {cells} cells, {run.seconds or 0:.2f} s {wrong or ''}")
        if wrong:
            say("    " + "\n    ".join(run.output.splitlines()[-60:]))
    waits.sort()
    end = f"seconds to the end: median {waits[len(waits) // 2]:.2f}, maximum {waits[-1]:.2f}" if waits else ""
    say(f"{dict(tally)} {end}")
    return int(any(not name.startswith("ended") for name in tally))


def one_round(folder: Path, shot: str, *, workers: int = 0, real: bool = False) -> tuple[Ended, list[str]]:
    """A run of ten cells in an empty folder, ended by `shot`, and its faults."""
    make(folder, real=real)
    run = ended(folder, "-q", shot=shot, workers=workers)
    name, _, times, _ = shot.split(":")
    return run, faults(folder, run, recorded=name != "SIGKILL" and times == "1")


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
