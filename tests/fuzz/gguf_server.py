"""A program that uses GGUF files as pytest-puma does: a path on each line of its input, an end on each of its output.

Each file is used in forks of this process, under limits of time and of memory, so that what llama.cpp does to a
process is seen and survived.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_puma.core import Model, PumaError, Request
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.first_use import use
from pytest_puma.models.resolve import inspect_model
from tests.engine.ask import generate, prompt, score

#: Of each fork. The address space counts what is only reserved, too.
SECONDS, BYTES = 20, 6 << 30
_REFUSED, _BROKEN = 10, 11


def check_and_try(path: Path) -> None:
    """The steps of a collection, and those in the process of the smoke test."""
    inspect_model(path)
    use(path, threads=1)


def run(path: Path) -> None:
    """The steps in the process of the user, after the smoke test: text and scores, greedy and sampled."""
    requests: list[Request] = [
        generate(prompt("Is it broken?", system="Answer with one word."), 6),
        score("Which one?", "A", "B or C"),
        generate("What?", 3, temperature=0.8, logprobs=True),
    ]
    with closing(Engine(NativeBackend(Model(name="fuzzed", path=path), threads=1))) as engine:
        engine.run(requests)


def fate(path: Path) -> dict[str, object]:
    """The end of the file's use: `refused` or `crashed` at the smoke test or before, `usable` or the end of its run."""
    tried = _in_a_fork(check_and_try, path)
    if tried["end"] != "usable":
        return {"stage": "tried", **tried}
    return {"stage": "run", **_in_a_fork(run, path)}


def _in_a_fork(action: Callable[[Path], None], path: Path) -> dict[str, object]:
    log, start = path.with_suffix(".log"), time.monotonic()
    child = os.fork()
    if not child:
        _act(action, path, log)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {
        "end": {0: "usable", _REFUSED: "refused", _BROKEN: "broken", -signal.SIGALRM: "hung"}.get(
            code, f"crashed {code}"
        ),
        "message": log.read_text(encoding="utf-8", errors="replace"),
        "megabytes": usage.ru_maxrss >> 10,
        "seconds": round(time.monotonic() - start, 2),
    }


def _act(action: Callable[[Path], None], path: Path, log: Path) -> None:
    """Do it and end this process; the log gets the messages."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)
    code = 0
    try:
        action(path)
    except PumaError as error:
        os.write(output, str(error).encode(errors="replace"))
        code = _REFUSED
    except BaseException:  # noqa: BLE001 - of any kind, it is a finding
        os.write(output, traceback.format_exc().encode(errors="replace"))
        code = _BROKEN
    os._exit(code)


if __name__ == "__main__":
    os.environ["GGML_NO_BACKTRACE"] = "1"
    for line in sys.stdin:
        print(json.dumps(fate(Path(line.rstrip("\n")))), flush=True)  # noqa: T201 - the output of this program
