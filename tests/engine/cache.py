"""A simulated KV cache: the tokens of each sequence and their KV slots, with a check of every operation.

`RecordedBackend` updates one beside the real cache of llama.cpp and records every row of logits under the tokens
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
#: Maximum difference of a logit between two batches. Attention kernels are chosen by the number of rows: over all
#: shapes of tiny_gguf.py the largest difference in 7,000 rows was 0.104 (attention), 1e-5 (recurrent only).
#: A row of another context differs by more than ten.
NOISE = 0.2


class SimulatedCache:
    """Sequences as lists of KV slots; a fork shares slots, and a slot is free when no sequence holds it.

    With streams, each has an equal part of the slots, and a fork copies.
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
        """KV slots that some sequence holds."""
        return sum(owners > 0 for owners in self._owners.values())

    def tokens(self, sequence: int) -> Context:
        """The tokens of a sequence."""
        return tuple(self._token[slot] for slot in self._held[sequence])

    def carry_out(self, operation: Operation) -> None:
        """Do an operation of a plan."""
        if isinstance(operation, Fork):
            self.fork(operation.source, operation.target)
        else:
            self.drop(operation.sequence)

    def fork(self, source: int, target: int) -> None:
        """Share all slots of the source; llama.cpp would add them to those of the target."""
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
        for slot in self._held[sequence]:
            self._owners[slot] -= 1
            if not self._owners[slot]:
                del self._owners[slot], self._token[slot]
        self._held[sequence] = []

    def feed(self, step: Step) -> list[Context]:
        """Append the tokens of a step; return, for each row with logits, the tokens it follows."""
        held = self._held[step.sequence]
        assert step.tokens, "a step without tokens"
        assert 0 <= step.rows_from <= len(step.tokens)
        assert step.start == len(held), f"sequence {step.sequence} holds {len(held)} tokens, not {step.start}"
        for token in step.tokens:
            self._append(step.sequence, token)
        self.fed += len(step.tokens)
        assert len(self._owners) <= self._kv_slots, f"{len(self._owners)} KV slots in use of {self._kv_slots}"
        assert self._stream is None or len(held) <= self._stream, f"{len(held)} KV slots in a stream of {self._stream}"
        tokens = self.tokens(step.sequence)
        return [tokens[: step.start + index + 1] for index in range(step.rows_from, len(step.tokens))]

    def _append(self, sequence: int, token: int) -> None:
        slot = next(self._names)
        self._token[slot] = token
        self._owners[slot] = 1
        self._held[sequence].append(slot)


class RecordedBackend(NativeBackend):
    """llama.cpp with a simulated cache beside it, and every row of logits recorded in `rows_after`."""

    def __init__(self, model: Model, *, threads: int) -> None:
        super().__init__(model, threads=threads)
        self.opened: list[tuple[int, int]] = []
        self.records_rows = True
        self.max_steps = 0
        self.simulated = SimulatedCache(kv_slots=0, sequences=0)
        self.rows_after: dict[Context, Logits] = {}

    def open(self, kv_slots: int, streams: int = 0) -> None:
        super().open(kv_slots, streams)
        self.opened.append((kv_slots, streams))
        self.simulated = SimulatedCache(kv_slots=kv_slots, sequences=streams or self.sequences, streams=streams > 0)

    def decode(self, steps: Sequence[Step]) -> Logits:
        logits = super().decode(steps)
        self.max_steps = max(self.max_steps, len(steps))
        contexts = [context for step in steps for context in self.simulated.feed(step)]
        assert len(contexts) == len(logits)
        if self.records_rows:
            self.rows_after.update(zip(contexts, logits.copy(), strict=True))
        return logits

    def fork(self, source: int, target: int) -> None:
        super().fork(source, target)
        self.simulated.fork(source, target)

    def drop(self, sequence: int) -> None:
        super().drop(sequence)
        self.simulated.drop(sequence)
