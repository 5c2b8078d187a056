"""Whether answers depend on the company they were computed in: samples asked once more, each alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Backend, Determinism, Response, Step
from pytest_puma.core.prefix import common_prefix
from pytest_puma.engine.engine import Engine
from pytest_puma.run.conversations import ConversationState, run_conversations
from pytest_puma.strategies import Strategy, Task

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


def check_batch_invariance(
    strategy: Strategy, tasks: Sequence[Task], states: Sequence[ConversationState], engine: Engine
) -> Determinism:
    """Ask these tasks again, one after the other; `talks` are the conversations about them, held together."""
    engine.reset()
    texts, answers, gaps = 0, 0, []
    for task, together in zip(tasks, states, strict=False):
        recording = RecordingBackend(engine.backend)
        (alone,) = run_conversations([strategy.converse(task)], Engine(recording))
        pairs = list(zip(_responses(together), _responses(alone), strict=False))
        parted = next((place for place, (one, other) in enumerate(pairs) if _said(one) != _said(other)), None)
        answers += _answer(together) != _answer(alone)
        if parted is not None:
            texts += 1
            gaps += recording.gap(*pairs[parted], after=[other for _, other in pairs[:parted]])
    return Determinism(samples=len(tasks), texts=texts, answers=answers, gaps=tuple(gaps))


class RecordingBackend:
    """A backend that notes, of each row of logits it hands out, the best token and how far it leads."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._rows: list[tuple[int, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps, and note their rows."""
        logits = self._backend.decode(steps)
        for row in logits:
            second, best = np.partition(row, -2)[-2:]
            self._rows.append((int(row.argmax()), float(best - second)))
        return logits

    def gap(self, together: Response, alone: Response, *, after: Sequence[Response]) -> list[float]:
        """The lead of the chosen token where `alone`, which came after others, leaves `together`.

        Nothing where it cannot be told: behind a sampled token, or one of several responses in a batch.
        """
        if alone.finish == "scored":
            ranked = sorted(alone.logprobs, reverse=True)
            return [ranked[0] - alone.logprobs[int(np.argmax(together.logprobs))]]
        start = sum(response.usage.decoded_tokens for response in after)
        rows = self._rows[start : start + alone.usage.decoded_tokens]
        pieces = [b"" if self._backend.is_end(token) else self._backend.piece(token) for token, _ in rows]
        if not b"".join(pieces).startswith(alone.text.encode()):
            return []
        common = common_prefix(together.text.encode(), alone.text.encode())
        place = next((number for number, end in enumerate(accumulate(map(len, pieces))) if end > common), len(rows) - 1)
        return [rows[place][1]]


def _responses(state: ConversationState) -> tuple[Response, ...]:
    return () if state.answer is None else state.answer.responses


def _answer(state: ConversationState) -> str | None:
    return None if state.answer is None else state.answer.value


def _said(response: Response) -> object:
    """What counts as the same: a text, or of scored continuations the most probable one."""
    return int(np.argmax(response.logprobs)) if response.finish == "scored" else response.text
