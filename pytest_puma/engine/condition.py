"""A condition of hooks: they act on the replies to prompts whose states point in a direction, and on no others.

It holds for a sequence if cos(m, c) >= threshold, where m is the mean output of a layer over the tokens of the prompt
and c the direction. Prompts share prefixes in the cache, so nothing may act before a prompt has ended; the sums of a
sequence are forked with it. Source: B. Lee et al., "Programming refusal with conditional activation steering", ICLR
2025; there, about the absolute value of this cosine, which cannot tell a direction from its opposite.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_puma.engine.hook import Hook, Rows, Scoped, States


class Condition:
    """A condition on each sequence of one cache. `direction` may have any length but 0."""

    def __init__(self, layer: int, direction: States, threshold: float) -> None:
        self.hook = Hook(layer, "l_out", self._read)
        wide = direction.astype(np.float64)
        self._direction, self._threshold = wide / np.linalg.norm(wide), threshold
        #: Of the states of the prompt, by sequence: the cosine needs no mean.
        self._sums: dict[int, NDArray[np.float64]] = {}

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether it holds for the sequence of each of these rows of replies."""
        sequences, places = np.unique(rows.sequence, return_inverse=True)
        decided = [self.cosine(sequence) >= self._threshold for sequence in sequences.tolist()]
        return np.array(decided, dtype=np.bool_)[places]

    def cosine(self, sequence: int) -> float:
        """The cosine of the prompt of a sequence so far."""
        total = self._sums[sequence]
        return float(total @ self._direction / np.linalg.norm(total))

    def fork(self, source: int, target: int) -> None:
        """Let a sequence continue from another one."""
        self._sums[target] = self._sums[source]

    def drop(self, sequence: int) -> None:
        """Forget a sequence."""
        self._sums.pop(sequence, None)

    def _read(self, states: States, rows: Rows) -> States:
        prompt = ~rows.reply
        for sequence in np.unique(rows.sequence[prompt]).tolist():
            own = states[prompt & (rows.sequence == sequence)].sum(axis=0, dtype=np.float64)
            self._sums[sequence] = self._sums.get(sequence, 0.0) + own
        return states


def under(conditions: Sequence[Condition]) -> Scoped:
    """Return the choice of the tokens of replies for whose sequences all conditions hold."""

    def chosen(rows: Rows) -> NDArray[np.bool_]:
        reply = rows.reply
        for condition in conditions:
            reply[reply] = condition.holds(rows[reply])
        return reply

    return chosen
