"""Limits of the cache and of the batches, by the kind of model and the user's options; the context that has them.

llama.cpp writes the memory that a context takes to its log, also where nothing is allocated:

    llama_context:        CPU  output buffer size =     3.00 MiB
    llama_kv_cache: size =   90.00 MiB (  4096 cells,  30 layers, 16/1 seqs), K (f16):   45.00 MiB, V (f16):   45.00 MiB
    sched_reserve:        CPU compute buffer size =    17.51 MiB
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Model
from pytest_puma.engine.native.binding import loaded, prepare, uninterrupted
from pytest_puma.models.gguf import read_gguf

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a `Backend`, under the same names, and whether a GPU computes."""

    on_gpu: bool
    good_kv_slots: int
    stream_kv_slots: int
    parallel: int
    parallel_streams: int
    sequences: int


def limits_of(pointer: Any, model: Model) -> Limits:
    """Return the limits of a model; `pointer` is that of llama.cpp's, with or without its weights."""
    if llama_cpp.llama_model_has_encoder(pointer) or not llama_cpp.llama_model_has_decoder(pointer):
        msg = f"{model.name}: the model is no decoder-only language model; such models are not supported"
        raise EngineError(msg)
    options = model.options
    on_gpu = options.gpu_layers != 0 and bool(llama_cpp.llama_supports_gpu_offload())
    good_kv_slots = GOOD_KV_SLOTS_GPU if on_gpu else GOOD_KV_SLOTS_CPU
    if options.strict:
        # One for a prompt and one for a continuation: none is left for a prefix that samples share.
        return Limits(
            on_gpu=on_gpu, good_kv_slots=good_kv_slots, stream_kv_slots=0, parallel=1, parallel_streams=1, sequences=2
        )
    stateful = llama_cpp.llama_model_is_recurrent(pointer) or llama_cpp.llama_model_is_hybrid(pointer)
    parallel = options.parallel or (PARALLEL_GPU if on_gpu else PARALLEL_CPU)
    # Each sequence of a recurrent model costs memory for its state, used or not.
    sequences = parallel + (EXTRA_STATES if stateful else EXTRA_SEQUENCES)
    return Limits(
        on_gpu=on_gpu,
        good_kv_slots=good_kv_slots,
        stream_kv_slots=0 if on_gpu or stateful else _stream_kv_slots(model),
        parallel=parallel,
        parallel_streams=options.parallel or PARALLEL_STREAMS,
        sequences=sequences,
    )


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


def _stream_kv_slots(model: Model) -> int:
    return min(STREAM_KV_SLOTS, STREAM_BYTES // (read_gguf(model.path).kv_slot_bytes or DEFAULT_KV_SLOT_BYTES))
