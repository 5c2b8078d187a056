"""The outputs of the layers of a model, read while llama.cpp computes a text, and the vectors made of them.

llama.cpp asks a callback about each tensor that it computes (`cb_eval`), and calls it again with those that were
wanted. Reading changes no number. Outputs are the tensors `l_out-N`, counted from 0.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import EngineError
from pytest_puma.engine.native import binding
from pytest_puma.engine.native.openmp import LIBRARY
from pytest_puma.engine.native.text import context_params

_OUTPUT = re.compile(rb"l_out-(\d+)")
#: Of a text.
MAX_TOKENS = 2048


class HiddenStates:
    """The outputs of all layers of a loaded model but the last; close it after use.

    The last layer is left out: it computes only the rows whose logits are wanted.
    """

    def __init__(self, pointer: Any, *, threads: int) -> None:
        """`pointer` is that of llama.cpp's model."""
        self._layers = int(llama_cpp.llama_model_n_layer(pointer))
        self._width = int(llama_cpp.llama_model_n_embd(pointer))
        self._read: dict[int, list[NDArray[np.float32]]] = {}
        self._ggml = ggml_functions()
        params = context_params(MAX_TOKENS, 0, rows=1)
        params.n_threads = params.n_threads_batch = threads
        # Kept alive with this object: llama.cpp has only its address.
        self._callback = llama_cpp.ggml_backend_sched_eval_callback(self._seen)
        params.cb_eval = self._callback
        with binding.uninterrupted():
            self._context = llama_cpp.llama_init_from_model(pointer, params) or None
        if self._context is None:
            msg = f"llama.cpp cannot make a context to read hidden states{binding.error_log()}"
            raise EngineError(msg)

    def of(self, tokens: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """Return the output of each layer: tokens x width."""
        if len(tokens) > MAX_TOKENS:
            msg = f"a text has {len(tokens)} tokens; expected at most {MAX_TOKENS}"
            raise EngineError(msg)
        self._read = {}
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self._context), False)  # noqa: FBT003
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        with binding.uninterrupted():
            code = llama_cpp.llama_decode(self._context, llama_cpp.llama_batch_get_one(array, len(tokens)))
        states = {layer: np.concatenate(parts) for layer, parts in self._read.items() if layer < self._layers - 1}
        if code or any(len(rows) != len(tokens) for rows in states.values()) or len(states) != self._layers - 1:
            msg = (
                f"llama.cpp shows the outputs of {len(states)} of {self._layers - 1} layers (l_out-N) for this "
                "architecture; expected all of them: make the vector with another tool"
            )
            raise EngineError(msg)
        return states

    def close(self) -> None:
        """Free the context."""
        with binding.uninterrupted():
            if self._context is not None:
                llama_cpp.llama_free(self._context)
            self._context = None

    def _seen(self, tensor: int, asks: bool, _data: object) -> bool:  # noqa: FBT001 - llama.cpp's signature
        name = _OUTPUT.fullmatch(self._ggml.ggml_get_name(tensor))
        if name is None:
            return not asks
        if not asks:
            size = self._ggml.ggml_nbytes(tensor)
            rows = np.empty(size // 4, dtype=np.float32)
            self._ggml.ggml_backend_tensor_get(tensor, rows.ctypes.data, 0, size)
            self._read.setdefault(int(name[1]), []).append(rows.reshape(-1, self._width))
        return True


def ggml_functions() -> ctypes.CDLL:
    """Return functions of ggml, which the binding does not have; they are found behind the library that needs them."""
    library = ctypes.CDLL(str(LIBRARY))
    library.ggml_get_name.argtypes, library.ggml_get_name.restype = [ctypes.c_void_p], ctypes.c_char_p
    library.ggml_nbytes.argtypes, library.ggml_nbytes.restype = [ctypes.c_void_p], ctypes.c_size_t
    library.ggml_nrows.argtypes, library.ggml_nrows.restype = [ctypes.c_void_p], ctypes.c_int64
    for copy in (library.ggml_backend_tensor_get, library.ggml_backend_tensor_set):
        copy.argtypes, copy.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t], None
    return library
