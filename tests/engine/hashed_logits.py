"""Scripted backends whose logits are a hash of all tokens before: they are equal on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Step
from pytest_puma.testing import ScriptedBackend

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

_LETTERS = b" abcdefghijklmnopqrstuvwxyz"
_END = 256


class HashedLogits(ScriptedBackend):
    """Letters with hashed logits, and the end of a turn."""

    def __init__(self) -> None:
        super().__init__({})
        self._contexts: dict[int, bytes] = {}

    def open(self, kv_slots: int, streams: int = 0) -> None:
        super().open(kv_slots, streams)
        self._contexts = {}

    def decode(self, steps: Sequence[Step]) -> Logits:
        super().decode(steps)
        rows = []
        for step in steps:
            context = self._contexts.get(step.sequence, b"") + bytes(list(step.tokens))
            self._contexts[step.sequence] = context
            first = step.start + step.rows_from
            rows += [_hashed_row(context[: position + 1]) for position in range(first, len(context))]
        return np.array(rows, np.float32).reshape(len(rows), _END + 1)

    def fork(self, source: int, target: int) -> None:
        super().fork(source, target)
        self._contexts[target] = self._contexts[source]

    def drop(self, sequence: int) -> None:
        super().drop(sequence)
        self._contexts.pop(sequence, None)


class RecordedBatches(HashedLogits):
    """Records each cache, and each batch as (sequence, position, tokens) of its steps; seven jobs run at once."""

    def __init__(self) -> None:
        super().__init__()
        self.parallel = self.parallel_streams = 7
        self.stream_kv_slots = 100_000
        self.record: list[object] = []

    def open(self, kv_slots: int, streams: int = 0) -> None:
        super().open(kv_slots, streams)
        self.record.append((kv_slots, streams))

    def decode(self, steps: Sequence[Step]) -> Logits:
        self.record.append([(step.sequence, step.start, len(step.tokens)) for step in steps])
        return super().decode(steps)


def _hashed_row(context: bytes) -> list[float]:
    tokens = [*_LETTERS, _END]
    numbers = np.frombuffer(hashlib.shake_256(context).digest(4 * len(tokens)), "<u4") / 2**32
    row = [-50.0] * (_END + 1)
    for token, number in zip(tokens, numbers.tolist(), strict=True):
        row[token] = 8 * number
    return row
