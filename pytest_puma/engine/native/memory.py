"""Memory that llama.cpp would take for a context: its cache, its results, its working space.

Nothing is allocated: llama.cpp plans the buffers, and writes their sizes to its log.

    llama_context:        CPU  output buffer size =     3.00 MiB
    llama_kv_cache: size =   90.00 MiB (  4096 cells,  30 layers, 16/1 seqs), K (f16):   45.00 MiB, V (f16):   45.00 MiB
    sched_reserve:        CPU compute buffer size =    17.51 MiB
"""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from typing import Any

import llama_cpp

from pytest_puma.core import Model
from pytest_puma.engine.native.binding import prepare, refuse_load, uninterrupted
from pytest_puma.engine.native.context import context_params

_SIZE = re.compile(rb"size = +([\d.]+) MiB")


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
    loaded: Any = llama_cpp.llama_model_load_from_file(os.fsencode(model.path), params)
    if not loaded:
        refuse_load(model)
    try:
        with uninterrupted():
            llama_cpp.llama_log_set(note, ctypes.c_void_p(0))
            context = llama_cpp.llama_init_from_model(loaded, context_params(*opened, rows=sequences))
            if context:
                llama_cpp.llama_free(context)
    finally:
        prepare()
        llama_cpp.llama_model_free(loaded)
    return round(sum(float(size) for size in _SIZE.findall(b"".join(lines))) * 2**20)
