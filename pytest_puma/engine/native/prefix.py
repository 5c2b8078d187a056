"""The first shared prefix of a cell, kept for the next cell of the same model.

A prefix is computed in passes that end at the same positions in every cell:

    0 ──── 64 ──────── 192 ──────── 320 ─── 391        (the prefix of one cell)
    0 ──── 64 ──────── 192 ─────── 287                 (that of the next one; equal up to token 250)

So the keys and values of a pass depend on the tokens up to its end alone, and those of equal passes can be copied: the
second cell copies 192 tokens and computes 95, with the same result to the bit as without a cell before it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Sequence
from typing import Any

import llama_cpp

from pytest_puma.core import Step
from pytest_puma.core.shared import common_prefix

#: Tokens of a pass, and of the first and last one at least: with fewer rows, llama.cpp's flash attention uses another
#: kernel, and its sums differ from those of a longer pass.
PASS, LEAST = 128, 64
#: Bytes of keys and values to keep. A longer prefix is computed anew in every cell.
MOST_BYTES = 256 << 20


def pass_ends(tokens: int, start: int = 0) -> list[int]:
    """Return the ends of the passes that compute a prefix of this length, without those up to `start`."""
    return [end for end in (*range(LEAST, tokens - LEAST + 1, PASS), tokens) if end > start]


def is_prefix(steps: Sequence[Step]) -> bool:
    """Whether a batch is a shared prefix alone, without rows of logits."""
    return len(steps) == 1 and steps[0].prompt is None and steps[0].rows_from == len(steps[0].tokens)


class KeptPrefix:
    """The keys and values of the last prefix. `kind`: what they depend on besides the tokens."""

    def __init__(self) -> None:
        self._kind: Hashable = None
        self._tokens: Sequence[int] = ()
        self._state: Any = b""

    def restore(self, context: Any, sequence: int, tokens: Sequence[int], kind: Hashable) -> int:
        """Copy the passes that a prefix begins with into an empty sequence; return the number of their tokens."""
        common = common_prefix(self._tokens, tokens) if kind == self._kind else 0
        ends = set(pass_ends(len(self._tokens)))
        end = max((end for end in pass_ends(len(tokens)) if end <= common and end in ends), default=0)
        if not end or not llama_cpp.llama_state_seq_set_data(context, self._state, len(self._state), sequence):
            return 0
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(context), sequence, end, -1)
        return end

    def keep(self, context: Any, sequence: int, tokens: Sequence[int], kind: Hashable) -> None:
        """Keep the computed prefix of a sequence in place of the last one."""
        self._kind, self._tokens, self._state = None, (), b""
        size = int(llama_cpp.llama_state_seq_get_size(context, sequence))
        if size > MOST_BYTES:
            return
        state = (ctypes.c_uint8 * size)()
        if llama_cpp.llama_state_seq_get_data(context, state, size, sequence):
            self._kind, self._tokens, self._state = kind, tokens, state
