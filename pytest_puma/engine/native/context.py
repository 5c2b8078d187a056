"""The shape of a context of llama.cpp."""

from __future__ import annotations

import llama_cpp

from pytest_puma.engine.native.limits import BATCH, MICRO_BATCH


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
