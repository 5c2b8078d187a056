"""Limits of the cache and of the batches, and the context that has them.

llama.cpp writes the memory that a context takes to its log, also where nothing is allocated:

    llama_context:        CPU  output buffer size =     3.00 MiB
    llama_kv_cache: size =   90.00 MiB (  4096 cells,  30 layers, 16/1 seqs), K (f16):   45.00 MiB, V (f16):   45.00 MiB
    sched_reserve:        CPU compute buffer size =    17.51 MiB
"""

from __future__ import annotations

import ctypes
import re
from functools import cache

import llama_cpp

from pytest_puma.core import Model
from pytest_puma.engine.native.binding import loaded, prepare, uninterrupted

#: Prompt tokens of one `llama_decode`, and of one pass through the graph. Larger passes are no faster.
BATCH, MICRO_BATCH = 2048, 512
#: Requests at once: on a CPU, more requests only slow down each other's attention.
PARALLEL_CPU, PARALLEL_GPU = 16, 64
#: More with streams, where each request visits only its own KV slots.
PARALLEL_STREAMS = 28
#: Sequences beyond the running requests: fork points and continuations.
EXTRA_SEQUENCES, EXTRA_STATES = 48, 8
#: Unshared KV slots: each query visits every slot in use, of whatever sequence.
GOOD_KV_SLOTS_CPU, GOOD_KV_SLOTS_GPU = 4096, 32768
#: KV slots of all streams together, and their bytes: more than a shared cache, as each stream fits the longest request.
STREAM_KV_SLOTS, STREAM_BYTES = 32768, 2 << 30
#: Bytes of a KV slot if the file does not specify them: as in models of 8B.
DEFAULT_KV_SLOT_BYTES = 128 << 10
_SIZE = re.compile(rb"size = +([\d.]+) MiB")


def context_params(kv_slots: int, streams: int, *, rows: int) -> llama_cpp.llama_context_params:
    """Return the parameters of a cache that all of `rows` sequences share, or that is divided among `streams`."""
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = kv_slots
    params.n_batch = min(BATCH, kv_slots)
    params.n_ubatch = min(MICRO_BATCH, kv_slots)
    params.n_seq_max = streams or rows
    params.n_outputs_max = rows
    params.kv_unified = not streams
    params.swa_full = True
    return params


@cache
def context_bytes(model: Model, opened: tuple[int, int], *, sequences: int) -> int:
    """Return the bytes of a context with these KV slots and streams; 0 if llama.cpp refuses to plan it."""
    if not opened[0]:
        return 0
    prepare()
    lines: list[bytes] = []
    note = llama_cpp.llama_log_callback(lambda _level, text, _data: lines.append(text))
    params = llama_cpp.llama_model_default_params()
    # Together with memory maps, it would abort the process.
    params.no_alloc, params.load_mode = True, llama_cpp.LLAMA_LOAD_MODE_NONE
    params.n_gpu_layers = 0
    pointer = loaded(model, params)
    try:
        with uninterrupted():
            llama_cpp.llama_log_set(note, ctypes.c_void_p(0))
            context = llama_cpp.llama_init_from_model(pointer, context_params(*opened, rows=sequences))
            if context:
                llama_cpp.llama_free(context)
    finally:
        prepare()
        llama_cpp.llama_model_free(pointer)
    return round(sum(float(size) for size in _SIZE.findall(b"".join(lines))) * 2**20)
