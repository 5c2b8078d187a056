"""The physical limit of a workload: the fewest tokens that must be computed, at the rate of bare `llama_decode`."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

from pytest_puma.core import Backend, Step
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.scheduler import common_prefix
from tools.speed.contenders import Setting
from tools.speed.workloads import Workload

#: Batches of one token for each sequence that are timed.
WRITTEN_STEPS = 24
#: Prompt tokens that are timed, at least.
READ_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Tokens that cannot be done without: `read` of prompts and continuations, each distinct prefix once; `written`.

    Of a mean sequence: the tokens that it `shared` with another, its `own`, the `rows` of logits looked at before the
    first `new` token.
    """

    read: int
    written: int
    shared: int
    own: int
    rows: int
    new: int


def need_of(backend: Backend, workload: Workload) -> Need:
    """Count them. The last token of an answer need not be computed: nobody asks what would follow."""
    engine = Engine(backend)
    texts: list[array[int]] = []
    rows = 0
    new = [request.max_tokens for request in workload.generated]
    for request in workload.requests:
        tokens, tails = engine.encode(request)
        texts += [array("i", [*tokens, *tail[:-1]]) for tail in tails] or [array("i", tokens)]
        rows += 1 + sum(len(tail) - 1 for tail in tails)
    texts.sort()
    common = [common_prefix(left, right) for left, right in pairwise(texts)]
    total = sum(map(len, texts))
    return Need(
        read=total - sum(common),
        written=sum(new) - len(new),
        shared=sum(common) // len(texts),
        own=max(1, (total - sum(common)) // len(texts)),
        rows=max(1, round(rows / len(texts))),
        new=max(new, default=0),
    )


def floor(setting: Setting, workload: Workload) -> float:
    """Seconds that no order of the work could undercut at the rates that are measured now."""
    with closing(NativeBackend(setting.model, threads=setting.threads)) as backend:
        need = need_of(backend, workload)
        count = min(backend.parallel, len(workload.requests))
        read, written = raw_rates(backend, need, count)
    return need.read / read + (need.written / written if need.written else 0.0)


def raw_rates(backend: Backend, need: Need, count: int) -> tuple[float, float]:
    """Tokens a second read and written by bare decodes of the workload's shape: `count` prompts with one beginning."""
    backend.open(need.shared + count * (need.own + need.new + WRITTEN_STEPS))
    shared = [7] * need.shared
    if shared:
        _read(backend, [Step(0, 0, array("i", shared), len(shared))])
    prompts = range(1, count + 1)
    tokens, seconds = 0, 0.0
    while tokens < READ_TOKENS:
        for sequence in prompts:
            backend.drop(sequence)
            if shared:
                backend.fork(0, sequence)
        own = [
            Step(sequence, need.shared, array("i", [9] * need.own), max(0, need.own - need.rows))
            for sequence in prompts
        ]
        started = time.perf_counter()
        _read(backend, own)
        seconds += time.perf_counter() - started
        tokens += count * need.own
    read = tokens / seconds
    if not need.written:
        return read, 0.0
    # Half of an answer lies in the cache when a mean token of it is computed.
    held = need.shared + need.own
    ahead = max(0, need.new // 2 - WRITTEN_STEPS // 2)
    if ahead:
        _read(backend, [Step(sequence, held, array("i", [11] * ahead), ahead) for sequence in prompts])
    steps = min(WRITTEN_STEPS, need.new)
    started = time.perf_counter()
    for at in range(held + ahead, held + ahead + steps):
        backend.decode([Step(sequence, at, array("i", [11]), 0) for sequence in prompts])
    return read, count * steps / (time.perf_counter() - started)


def _read(backend: Backend, steps: Sequence[Step]) -> None:
    """Decode so much, in batches as large as may be."""
    waiting = list(steps)
    while waiting:
        batch: list[Step] = []
        room = backend.batch
        while waiting and room:
            step = waiting.pop(0)
            if len(step.tokens) > room:
                cut, rest = step.tokens[:room], step.tokens[room:]
                waiting.insert(0, Step(step.sequence, step.start + room, rest, max(0, step.rows_from - room)))
                step = Step(step.sequence, step.start, cut, min(step.rows_from, room))
            batch.append(step)
            room -= len(step.tokens)
        backend.decode(batch)
