"""The arrays of one batch, in the memory layout that llama.cpp reads; filled again for every decode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import EngineError, Step


class BatchBuffers:
    """Room for `tokens` tokens. Refuses what would abort the process: too much of anything, an unknown sequence."""

    def __init__(self, *, tokens: int, rows: int, sequences: int) -> None:
        self._limits = {"tokens": tokens, "rows": rows, "sequences": sequences}
        self._token = np.zeros(tokens, dtype=np.int32)
        self._position = np.zeros(tokens, dtype=np.int32)
        self._sequence = np.zeros(tokens, dtype=np.int32)
        self._wanted = np.zeros(tokens, dtype=np.int8)
        # A token may belong to several sequences; here each has one, found through a pointer of its own.
        self._owners = np.ones(tokens, dtype=np.int32)
        address = self._sequence.ctypes.data
        self._pointers = np.arange(address, address + 4 * tokens, 4, dtype=np.uintp)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by their names in `llama_batch`."""
        return {
            "token": self._token,
            "pos": self._position,
            "n_seq_id": self._owners,
            "seq_id": self._pointers,
            "logits": self._wanted,
        }

    def fill(self, steps: Sequence[Step]) -> tuple[int, int]:
        """Lay the steps side by side; the number of tokens and of wanted rows."""
        found = {
            "tokens": sum(len(step.tokens) for step in steps),
            "rows": sum(len(step.tokens) - step.rows_from for step in steps),
            "sequences": max((step.sequence + 1 for step in steps), default=0),
        }
        for name, most in self._limits.items():
            if found[name] > most:
                msg = f"a batch needs {found[name]} {name}; expected at most {most}"
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
        return found["tokens"], found["rows"]
