"""Hooks: changes of the states that llama.cpp computes, row by row, before it computes the next node with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Step

#: The states of a node: one row for each token, float32.
States: TypeAlias = NDArray[np.float32]
#: Of a prefix that several prompts share: the prompt ends behind it.
_BEHIND = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Rows:
    """The tokens of rows: their sequences, their positions, the numbers of tokens of their prompts, the need of logits.

    The scheduler composes a batch, so that a step knows this of its tokens; llama.cpp does not.
    """

    sequence: NDArray[np.int32]
    position: NDArray[np.int32]
    prompt: NDArray[np.int32]
    wanted: NDArray[np.bool_]

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Rows:
        """Return the rows of a batch, in its order."""
        counts = np.array([len(step.tokens) for step in steps], dtype=np.int32)
        facts = [
            (step.sequence, step.start, _BEHIND if step.prompt is None else step.prompt, step.rows_from)
            for step in steps
        ]
        table = np.repeat(np.array(facts, dtype=np.int32).reshape(-1, 4), counts, axis=0)
        within = np.arange(len(table), dtype=np.int32) - np.repeat(np.cumsum(counts) - counts, counts).astype(np.int32)
        return cls(table[:, 0], table[:, 1] + within, table[:, 2], within >= table[:, 3])

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, chosen: slice | NDArray[np.bool_]) -> Rows:
        """Return some of the rows."""
        return Rows(self.sequence[chosen], self.position[chosen], self.prompt[chosen], self.wanted[chosen])

    @property
    def reply(self) -> NDArray[np.bool_]:
        """Whether each token is one of the reply, or of a continuation that is scored."""
        return np.greater_equal(self.position, self.prompt)

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether each token is the last one of its prompt."""
        return np.equal(self.position, self.prompt - 1)


#: Chooses rows.
Scoped: TypeAlias = Callable[[Rows], NDArray[np.bool_]]
#: Returns the states that take the place of those it gets; the same object leaves them as they are.
Change: TypeAlias = Callable[[States, Rows], States]


class Hook(NamedTuple):
    """A change of the states of a node of llama.cpp's graph, such as `l_out-10`: the output of layer 10."""

    layer: int
    node: str
    change: Change

    @property
    def name(self) -> bytes:
        """The name of the node in the graph."""
        return f"{self.node}-{self.layer}".encode()
