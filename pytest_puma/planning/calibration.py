"""Throughput of a model that never ran here, from about two seconds of work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import count
from time import perf_counter

from pytest_puma.core import Model, Step
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native import NativeBackend, smoke_test
from pytest_puma.runs.throughput import Throughput

#: Seconds of reading, and of writing.
_SECONDS = 1.0
#: Tokens of a prompt: few, as a large model reads less than this in a second.
_PROMPT = 128
_KV_SLOTS = 4096


def calibrate(model: Model, *, threads: int | None) -> Throughput:
    """Measure a model: it reads prompts, then writes replies to as many requests at once as a run has.

    The time of replies is that of short texts, so that of long ones is underestimated. Raises an `EngineError`.
    """
    smoke_test(model)
    with closing(NativeBackend(model, threads=threads or cores())) as backend:
        sequences = range(backend.parallel)
        # The first decode also reads the weights from the disk.
        backend.open(_KV_SLOTS)
        backend.decode([Step(0, 0, range(_PROMPT), _PROMPT - 1)])

        def read(_turn: int) -> int:
            backend.open(_KV_SLOTS)
            backend.decode([Step(0, 0, range(_PROMPT), _PROMPT - 1)])
            return _PROMPT

        def write(turn: int) -> int:
            backend.decode([Step(sequence, turn, (sequence,), 0) for sequence in sequences])
            return len(sequences)

        prefill = _rate(read)
        backend.open(_KV_SLOTS)
        return Throughput(prefill=prefill, decode=_rate(write, turns=_KV_SLOTS // len(sequences)), day="")


def _rate(work: Callable[[int], int], *, turns: int | None = None) -> float:
    """Return the tokens per second of work that is repeated for a second."""
    start, tokens = perf_counter(), 0
    for turn in count():
        tokens += work(turn)
        seconds = perf_counter() - start
        if seconds >= _SECONDS or turn + 1 == turns:
            break
    return tokens / seconds
