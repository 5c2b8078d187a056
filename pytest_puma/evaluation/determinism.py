"""Batch invariance: re-run samples alone and compare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_puma.core import Backend, Determinism, Responder, Response, SettingsError, Step
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation.conversations import ConversationState, run_conversations
from pytest_puma.strategies import Strategy, Task
from pytest_puma.strategies.retries import conversation

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


def check_batch_invariance(
    strategy: Strategy, tasks: Sequence[Task], states: Sequence[ConversationState], engine: Responder
) -> Determinism:
    """Run these tasks again, one after the other; `states` are their conversations in the shared batch."""
    if engine.backend is None:
        msg = "the answers are read, so none can be computed again; expected a model, or no check of determinism"
        raise SettingsError(msg)
    engine.reset()
    texts, answers, gaps = 0, 0, []
    for task, together in zip(tasks, states, strict=False):
        recording = RecordingBackend(engine.backend)
        (alone,) = run_conversations([conversation(strategy, task)], Engine(recording))
        pairs = list(zip(_responses(together), _responses(alone), strict=False))
        first = next((index for index, (one, other) in enumerate(pairs) if _content(one) != _content(other)), None)
        answers += _answer(together) != _answer(alone)
        if first is not None:
            texts += 1
            gaps += recording.gap(*pairs[first], after=[other for _, other in pairs[:first]])
    return Determinism(samples=len(tasks), texts=texts, answers=answers, gaps=tuple(gaps))


class RecordingBackend:
    """A backend that records the best token of each row of logits, and its lead."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._rows: list[tuple[int, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps, and record their rows."""
        logits = self._backend.decode(steps)
        for row in logits:
            second, best = np.partition(row, -2)[-2:]
            self._rows.append((int(row.argmax()), float(best - second)))
        return logits

    def gap(self, together: Response, alone: Response, *, after: Sequence[Response]) -> list[float]:
        """Return the lead of the chosen token at the first difference; `after` are the earlier responses alone.

        Returns an empty list if it is unknown: after a sampled token, or for one of several responses in a batch.
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
        index = next((number for number, end in enumerate(accumulate(map(len, pieces))) if end > common), len(rows) - 1)
        return [rows[index][1]]


def _responses(state: ConversationState) -> tuple[Response, ...]:
    return () if state.answer is None else state.answer.responses


def _answer(state: ConversationState) -> str | None:
    return None if state.answer is None else state.answer.value


def _content(response: Response) -> object:
    """The part that is compared: the text, or the most probable one of the scored continuations."""
    return int(np.argmax(response.logprobs)) if response.finish == "scored" else response.text
