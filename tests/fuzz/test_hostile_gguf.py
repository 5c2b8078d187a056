"""Files with hostile headers: refused with a clear error, or usable, without a crash, a hang, or too much memory.

The process of the smoke test is there to crash, and has a time limit; its crashes and hangs are counted, and no
findings. By default a few hundred files are tried, the same each time. A long search, with another seed:

    PUMA_FUZZ_SECONDS=1800 PUMA_FUZZ_SEED=7 pytest tests/fuzz/test_hostile_gguf.py -s
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_puma.platform.bundled import bundled_folder
from tests.fuzz.gguf_mutations import mutated
from tests.fuzz.gguf_parts import Parts, take_apart
from tests.tiny_gguf import MIXTRAL, SHAPES, write_gguf

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="each file is used in a fork")

SEED, SECONDS = os.environ.get("PUMA_FUZZ_SEED", "0"), float(os.environ.get("PUMA_FUZZ_SECONDS", "0"))
FILES = 150
#: The most memory of a process; undamaged, the files take up to 140.
MEGABYTES = 400
#: Characters of an error.
MESSAGE = 1500


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Parts]:
    """One of every kind of memory, one with experts, and the bundled one."""
    folder = tmp_path_factory.mktemp("models")
    paths = [write_gguf(folder / f"{shape.name}.gguf", shape) for shape in (*SHAPES, MIXTRAL)]
    return [take_apart(path.read_bytes()) for path in (*paths, bundled_folder("models") / "puma-tiny.gguf")]


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.fuzz.gguf_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_a_file_taken_apart_and_put_together_is_the_same(models: list[Parts]) -> None:
    assert [take_apart(parts.content()) for parts in models] == models


def test_a_hostile_file_is_refused_or_usable(
    models: list[Parts], server: subprocess.Popen[str], tmp_path: Path
) -> None:
    ends, findings = Counter[str](), []
    for number in _numbers():
        random = Random(f"{SEED}-{number}")  # noqa: S311 - no secret
        changes, content = mutated(random.choice(models), random)
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(content)
        fate = _fate(server, path)
        ends[f"{fate['stage']}: {fate['end'].split()[0]}"] += 1
        if problem := _problem(fate):
            findings.append(f"{path} ({changes}): {problem}: {fate['message'][-300:]}")
        else:
            path.unlink()
            path.with_suffix(".log").unlink()
    print(f"\n{sum(ends.values())} files of seed {SEED}: {dict(ends)}")  # noqa: T201 - for a long search
    assert not findings, "\n".join(findings)
    assert {"tried: refused", "tried: crashed", "run: usable"} <= ends.keys()


def _numbers() -> Iterator[int]:
    if not SECONDS:
        return iter(range(FILES))
    end = time.monotonic() + SECONDS
    return takewhile(lambda _: time.monotonic() < end, count())


def _fate(server: subprocess.Popen[str], path: Path) -> dict[str, Any]:
    print(path, file=server.stdin, flush=True)
    assert server.stdout is not None
    fate: dict[str, Any] = json.loads(server.stdout.readline())
    return fate


def _problem(fate: dict[str, Any]) -> str | None:
    end = fate["end"].split()[0]
    if end not in {"usable", "refused"} and not (fate["stage"] == "tried" and end in {"crashed", "hung"}):
        return f"{fate['end']} when it was {fate['stage']}"
    if fate["megabytes"] > MEGABYTES:
        return f"took {fate['megabytes']} MB"
    if fate["end"] == "refused" and not 0 < len(fate["message"]) <= MESSAGE:
        return f"an error of {len(fate['message'])} characters"
    return None
