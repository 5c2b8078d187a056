"""The physical limit of a workload: the fewest tokens that must be computed, at the rate of bare `llama_decode`."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

from pytest_puma.core import Backend, Step
from pytest_puma.engine.cache import whole_blocks
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.prefix import common_prefix
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
        read, written = raw_rates(backend, need, len(workload.requests))
    return need.read / read + (need.written / written if need.written else 0.0)


def raw_rates(backend: Backend, need: Need, requests: int) -> tuple[float, float]:
    """Tokens a second read and written by bare decodes of the workload's shape: prompts with one beginning.

    As many at once as are worth it, written in a shared cache or in streams, whichever is faster.
    """
    count = min(backend.parallel, requests)
    read = _read_rate(backend, need, count)
    if not need.written:
        return read, 0.0
    written = _write_rate(backend, need, count, streams=False)
    if backend.stream_cells:
        count = min(backend.parallel_streams, requests)
        written = max(written, _write_rate(backend, need, count, streams=True))
    return read, written


def _read_rate(backend: Backend, need: Need, count: int) -> float:
    _open(backend, need, count, streams=False)
    tokens, seconds = 0, 0.0
    while tokens < READ_TOKENS:
        _fork(backend, need, count)
        started = time.perf_counter()
        _read(backend, _own(need, count))
        seconds += time.perf_counter() - started
        tokens += count * need.own
    return tokens / seconds


def _write_rate(backend: Backend, need: Need, count: int, *, streams: bool) -> float:
    _open(backend, need, count, streams=streams)
    _fork(backend, need, count)
    for own in _own(need, count):
        _read(backend, [own])
    # Half of an answer lies in the cache when a mean token of it is computed.
    held, ahead = need.shared + need.own, max(0, need.new // 2 - WRITTEN_STEPS // 2)
    if ahead:
        for sequence in range(count):
            _read(backend, [Step(sequence, held, array("i", [11] * ahead), ahead)])
    steps = min(WRITTEN_STEPS, need.new)
    started = time.perf_counter()
    for at in range(held + ahead, held + ahead + steps):
        backend.decode([Step(sequence, at, array("i", [11]), 0) for sequence in range(count)])
    return count * steps / (time.perf_counter() - started)


def _open(backend: Backend, need: Need, count: int, *, streams: bool) -> None:
    """A cache for `count` prompts, with what they share in a sequence behind theirs."""
    own = need.own + need.new + WRITTEN_STEPS
    if streams:
        backend.open((count + 1) * whole_blocks(need.shared + own), count + 1)
    else:
        backend.open(need.shared + count * own)
    if need.shared:
        _read(backend, [Step(count, 0, array("i", [7] * need.shared), need.shared)])


def _fork(backend: Backend, need: Need, count: int) -> None:
    """Let every prompt stand where what is shared ends."""
    for sequence in range(count):
        backend.drop(sequence)
        if need.shared:
            backend.fork(count, sequence)


def _own(need: Need, count: int) -> list[Step]:
    tokens = array("i", [9] * need.own)
    return [Step(sequence, need.shared, tokens, max(0, need.own - need.rows)) for sequence in range(count)]


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
