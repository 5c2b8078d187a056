"""Input arrays of a batch, in the memory layout of llama.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import EngineError, Step


class BatchBuffers:
    """Input arrays of one batch, in llama.cpp's memory layout, for up to `tokens` tokens.

    They are refilled for every decode. A batch that would abort the process is refused (`fill`).
    """

    def __init__(self, *, tokens: int, rows: int, sequences: int) -> None:
        self._limits = {"tokens": tokens, "rows": rows, "sequences": sequences}
        self._token = np.zeros(tokens, dtype=np.int32)
        self._position = np.zeros(tokens, dtype=np.int32)
        self._sequence = np.zeros(tokens, dtype=np.int32)
        self._wanted = np.zeros(tokens, dtype=np.int8)
        # llama.cpp allows several sequences per token; here each token has one, with its own pointer.
        self._owners = np.ones(tokens, dtype=np.int32)
        address = self._sequence.ctypes.data
        self._pointers = np.arange(address, address + 4 * tokens, 4, dtype=np.uintp)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names in `llama_batch`."""
        return {
            "token": self._token,
            "pos": self._position,
            "n_seq_id": self._owners,
            "seq_id": self._pointers,
            "logits": self._wanted,
        }

    def fill(self, steps: Sequence[Step]) -> tuple[int, int]:
        """Copy the steps one after the other; return the numbers of tokens and of rows with logits.

        An `EngineError` if the batch is too large or has an unknown sequence: llama.cpp would abort the process.
        """
        needed = {
            "tokens": sum(len(step.tokens) for step in steps),
            "rows": sum(len(step.tokens) - step.rows_from for step in steps),
            "sequences": max((step.sequence + 1 for step in steps), default=0),
        }
        for name, limit in self._limits.items():
            if needed[name] > limit:
                msg = f"a batch needs {needed[name]} {name}; expected at most {limit}"
                raise EngineError(msg)
        start = 0
        for step in steps:
            end = start + len(step.tokens)
            self._token[start:end] = step.tokens
            self._position[start:end] = np.arange(step.start, step.start + len(step.tokens))
            self._sequence[start:end] = step.sequence
            self._wanted[start : start + step.rows_from] = 0
            self._wanted[start + step.rows_from : end] = 1
            start = end
        return needed["tokens"], needed["rows"]


def batch_over(buffers: BatchBuffers) -> llama_cpp.llama_batch:
    """Return a `llama_batch` that points to the memory of the buffers."""
    batch = llama_cpp.llama_batch()
    kinds = dict(llama_cpp.llama_batch._fields_)
    for name, array in buffers.arrays().items():
        setattr(batch, name, ctypes.cast(array.ctypes.data, kinds[name]))
    return batch
