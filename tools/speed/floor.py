"""The physical limit of a workload: the minimum number of tokens, at the rate of bare `llama_decode` calls."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from itertools import groupby, pairwise

from pytest_puma.core import Backend, Step
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.cache import whole_blocks
from pytest_puma.engine.encoding import encode_all
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.text import MICRO_BATCH
from pytest_puma.engine.sequences import Track, batch_of
from tools.speed.contenders import Setting
from tools.speed.workloads import Workload

#: Timed decode batches, with one token per sequence.
DECODE_STEPS = 24
#: Timed prefill tokens of one length, in whole rounds.
PREFILL_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A mean sequence: its tokens `shared` with another, its `own` tokens, and the `rows` of logits in these."""

    shared: int
    own: int
    rows: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Minimum of tokens: `prefill` of prompts and continuations, each distinct prefix once; `decoded` new tokens.

    The prefill is grouped by length, as (text, tokens of the group): the text is the one around a mean token of the
    group, because one long text needs more attention than several short ones. `mean` is the mean text of all, with at
    most `new` tokens after it.
    """

    prefill: tuple[tuple[Text, int], ...]
    decoded: int
    mean: Text
    new: int


def need_of(backend: Backend, workload: Workload) -> Need:
    """Count the tokens of a workload. The last token of an answer is not computed: nothing follows it."""
    texts: list[tuple[array[int], int]] = []
    new = [request.max_tokens for request in workload.generated]
    for request in encode_all(backend, workload.requests):
        tokens, tails = request.tokens, request.tails
        # The row after a prompt is read once for all its continuations.
        rows = [len(tail) - (number > 0) for number, tail in enumerate(tails)] or [1]
        full = [array("i", [*tokens, *tail[:-1]]) for tail in tails] or [array("i", tokens)]
        texts += zip(full, rows, strict=True)
    texts.sort()
    common = [0, *(common_prefix(left, right) for (left, _), (right, _) in pairwise(texts))]
    parts = [
        Text(shared=shared, own=len(text) - shared, rows=rows)
        for (text, rows), shared in zip(texts, common, strict=True)
    ]
    lengths = [[*group] for _, group in groupby(sorted(parts, key=_doublings), key=_doublings)]
    return Need(
        prefill=tuple((_around_a_token(group), sum(each.own for each in group)) for group in lengths),
        decoded=sum(new) - len(new),
        mean=_mean(parts),
        new=max(new, default=0),
    )


def _doublings(text: Text) -> int:
    """Length class of a text: up to one pass through the graph, beyond it by powers of two."""
    return (max(MICRO_BATCH, text.own) - 1).bit_length()


def _mean(parts: Sequence[Text]) -> Text:
    shared, own, rows = (sum(each) / len(parts) for each in zip(*map(astuple, parts), strict=True))
    return Text(shared=int(shared), own=max(1, int(own)), rows=max(1, round(rows)))


def _around_a_token(parts: Sequence[Text]) -> Text:
    """The text around a mean token: with the mean attention length and the mean rows per token of the parts."""
    tokens = sum(part.own for part in parts)
    own = sum(part.own**2 for part in parts) / tokens
    shared = sum(part.own * part.shared for part in parts) / tokens
    rows = own * sum(part.rows for part in parts) / tokens
    return Text(shared=int(shared), own=max(1, int(own)), rows=max(1, round(rows)))


def floor(setting: Setting, workload: Workload) -> float:
    """Return the minimum of seconds for any order of the work, at the rates of bare decodes measured now."""
    with closing(NativeBackend(setting.model, threads=setting.threads)) as backend:
        need = need_of(backend, workload)
        requests = len(workload.requests)
        prefill = sum(tokens / prefill_rate(backend, text, requests, tokens) for text, tokens in need.prefill)
        return prefill + (need.decoded / decode_rate(backend, need, requests) if need.decoded else 0.0)


def prefill_rate(backend: Backend, text: Text, requests: int, tokens: int = PREFILL_TOKENS) -> float:
    """Return the prefill tokens per second of prompts with a shared prefix, as many at once as is useful."""
    count = _together(backend, text, requests)
    _open(backend, text, count)
    done, seconds = 0, 0.0
    while done < min(tokens, PREFILL_TOKENS):
        _fork(backend, text, count)
        started = time.perf_counter()
        _decode_all(backend, _own(text, count))
        seconds += time.perf_counter() - started
        done += count * text.own
    return done / seconds


def decode_rate(backend: Backend, need: Need, requests: int) -> float:
    """Return the decoded tokens per second after such prompts, in a shared cache or in streams, whichever is faster."""
    rate = _decode_rate(backend, need, _together(backend, need.mean, requests), streams=False)
    longest = whole_blocks(need.mean.shared + need.mean.own + need.new + DECODE_STEPS)
    streams = min(backend.parallel_streams, requests, backend.stream_kv_slots // longest - 1)
    return max(rate, _decode_rate(backend, need, streams, streams=True)) if streams > 0 else rate


def _together(backend: Backend, text: Text, requests: int) -> int:
    return max(1, min(backend.parallel, requests, backend.good_kv_slots // text.own))


def _decode_rate(backend: Backend, need: Need, count: int, *, streams: bool) -> float:
    text = need.mean
    _open(backend, text, count, room=need.new + DECODE_STEPS, streams=streams)
    _fork(backend, text, count)
    for own in _own(text, count):
        _decode_all(backend, [own])
    # Half of an answer is in the cache when a mean token of it is computed.
    held, ahead = text.shared + text.own, max(0, need.new // 2 - DECODE_STEPS // 2)
    if ahead:
        for sequence in range(count):
            _decode_all(backend, [_without_logits(sequence, held, held + ahead)])
    steps = min(DECODE_STEPS, need.new)
    started = time.perf_counter()
    for at in range(held + ahead, held + ahead + steps):
        backend.decode([Step(sequence, at, array("i", [11]), 0) for sequence in range(count)])
    return count * steps / (time.perf_counter() - started)


def _open(backend: Backend, text: Text, count: int, *, room: int = 0, streams: bool = False) -> None:
    """Open a cache for `count` prompts that may grow by `room` tokens; one more sequence holds their shared prefix."""
    own = text.own + room
    if streams:
        backend.open((count + 1) * whole_blocks(text.shared + own), count + 1)
    else:
        backend.open(text.shared + count * own)
    if text.shared:
        _decode_all(backend, [_without_logits(count, 0, text.shared)])


def _fork(backend: Backend, text: Text, count: int) -> None:
    """Reset every prompt to the end of the shared prefix."""
    for sequence in range(count):
        backend.drop(sequence)
        if text.shared:
            backend.fork(count, sequence)


def _without_logits(sequence: int, held: int, length: int) -> Track:
    """Tokens that need no logits."""
    return Track(array("i", [7] * length), length, sequence, None, 0, held)


def _own(text: Text, count: int) -> list[Track]:
    held, whole = text.shared, text.shared + text.own
    tokens = array("i", [9] * whole)
    return [Track(tokens, max(held, whole - text.rows), sequence, None, 0, held) for sequence in range(count)]


def _decode_all(backend: Backend, tracks: Sequence[Track]) -> None:
    """Decode all pending tokens, in batches of the maximum size."""
    while pending := [track for track in tracks if track.pending]:
        batch = batch_of(pending, tokens=backend.batch, rows=backend.rows)
        backend.decode([step for _, step in batch])
        for track, step in batch:
            track.held += len(step.tokens)
