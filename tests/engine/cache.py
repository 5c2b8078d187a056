"""A cache on paper: which sequence holds which tokens in which cells, and whether it was asked for nonsense.

`RecordedBackend` keeps one beside the real cache of llama.cpp and notes every row of logits under the tokens
that it follows, so that a test can compare the same context computed in two different batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from pytest_puma.core import Model, Step
from pytest_puma.engine.jobs import Fork, Operation
from pytest_puma.engine.native import NativeBackend

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

Context: TypeAlias = tuple[int, ...]
#: How far a logit may differ between two batches. Attention kernels are chosen by the number of rows: over all
#: shapes of tiny_gguf.py the largest difference seen in 7,000 rows was 0.104 (attention), 1e-5 (recurrent only).
#: A row that belongs to another context is off by more than ten.
NOISE = 0.2


class PaperCache:
    """Sequences as lists of cells; a fork shares cells, a cell is free when nobody holds it.

    Of streams, each has its even part of the cells, and a fork copies.
    """

    def __init__(self, *, kv_slots: int, sequences: int, streams: bool = False) -> None:
        self._kv_slots = kv_slots
        self._stream = kv_slots // sequences if streams else None
        self._held: dict[int, list[int]] = {sequence: [] for sequence in range(sequences)}
        self._token: dict[int, int] = {}
        self._owners: Counter[int] = Counter()
        self._names = count()
        self.fed = 0

    @property
    def in_use(self) -> int:
        """Cells that some sequence holds."""
        return sum(owners > 0 for owners in self._owners.values())

    def tokens(self, sequence: int) -> Context:
        """What a sequence holds."""
        return tuple(self._token[cell] for cell in self._held[sequence])

    def carry_out(self, operation: Operation) -> None:
        """Do what a plan says."""
        if isinstance(operation, Fork):
            self.fork(operation.source, operation.target)
        else:
            self.drop(operation.sequence)

    def fork(self, source: int, target: int) -> None:
        """Share all cells of the source; llama.cpp would add them to what the target holds."""
        assert self._held[source], f"fork from the empty sequence {source}"
        assert not self._held[target], f"fork into sequence {target}, which is not empty"
        if self._stream is not None:
            for token in self.tokens(source):
                self._append(target, token)
            return
        self._held[target] = list(self._held[source])
        self._owners.update(self._held[source])

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""
        for cell in self._held[sequence]:
            self._owners[cell] -= 1
            if not self._owners[cell]:
                del self._owners[cell], self._token[cell]
        self._held[sequence] = []

    def feed(self, step: Step) -> list[Context]:
        """Append the tokens of a step; for each wanted row, the tokens it follows."""
        held = self._held[step.sequence]
        assert step.tokens, "a step without tokens"
        assert 0 <= step.rows_from <= len(step.tokens)
        assert step.start == len(held), f"sequence {step.sequence} holds {len(held)} tokens, not {step.start}"
        for token in step.tokens:
            self._append(step.sequence, token)
        self.fed += len(step.tokens)
        assert len(self._owners) <= self._kv_slots, f"{len(self._owners)} cells in use of {self._kv_slots}"
        assert self._stream is None or len(held) <= self._stream, f"{len(held)} cells in a stream of {self._stream}"
        tokens = self.tokens(step.sequence)
        return [tokens[: step.start + index + 1] for index in range(step.rows_from, len(step.tokens))]

    def _append(self, sequence: int, token: int) -> None:
        cell = next(self._names)
        self._token[cell] = token
        self._owners[cell] = 1
        self._held[sequence].append(cell)


class RecordedBackend(NativeBackend):
    """llama.cpp with a paper cache beside it and every row of logits kept in `rows_after`."""

    def __init__(self, model: Model, *, threads: int) -> None:
        super().__init__(model, threads=threads)
        self.opened: list[tuple[int, int]] = []
        self.rows_kept = True
        self.most_steps = 0
        self.paper = PaperCache(kv_slots=0, sequences=0)
        self.rows_after: dict[Context, Logits] = {}

    def open(self, kv_slots: int, streams: int = 0) -> None:
        super().open(kv_slots, streams)
        self.opened.append((kv_slots, streams))
        self.paper = PaperCache(kv_slots=kv_slots, sequences=streams or self.sequences, streams=streams > 0)

    def decode(self, steps: Sequence[Step]) -> Logits:
        logits = super().decode(steps)
        self.most_steps = max(self.most_steps, len(steps))
        contexts = [context for step in steps for context in self.paper.feed(step)]
        assert len(contexts) == len(logits)
        if self.rows_kept:
            self.rows_after.update(zip(contexts, logits.copy(), strict=True))
        return logits

    def fork(self, source: int, target: int) -> None:
        super().fork(source, target)
        self.paper.fork(source, target)

    def drop(self, sequence: int) -> None:
        super().drop(sequence)
        self.paper.drop(sequence)
