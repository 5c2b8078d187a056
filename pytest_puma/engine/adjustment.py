"""Changes of a row of logits before a token is chosen: a bias of single tokens, and penalties on those of the reply.

Generate(prompt=..., max_tokens=16, bias={" Minor": -4.0}, penalties=Penalties(frequency=0.5))
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import Backend, Generate, Penalties, SettingsError

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


class Adjustment:
    """The changes that a request asks for; a `SettingsError` if a text of its bias is not one token of the model.

    Penalties are about the tokens that were written after the prompt. That on repetition divides a positive logit and
    multiplies a negative one: Keskar et al., "CTRL", 2019. Those on frequency and presence are subtracted, the first
    one as often as the token was written, as in OpenAI's API.
    """

    def __init__(self, backend: Backend, request: Generate) -> None:
        bias = request.bias or {}
        self._biased = np.array([_token(backend, text) for text in bias], dtype=np.intp)
        self._bias = np.array([*bias.values()], dtype=np.float32)
        self._penalties = request.penalties or Penalties()
        self._written: Counter[int] = Counter()

    def adjusted(self, logits: Logits) -> Logits:
        """Return a changed copy of the row."""
        logits, penalties = logits.copy(), self._penalties
        if self._written:
            tokens = [*self._written]
            times = np.array([*self._written.values()], dtype=np.float32)
            row, factor = logits[tokens], np.float32(penalties.repetition)
            row = np.where(row > 0, row / factor, row * factor)
            logits[tokens] = row - times * np.float32(penalties.frequency) - np.float32(penalties.presence)
        logits[self._biased] += self._bias
        return logits

    def accept(self, token: int) -> None:
        """Record a token of the reply."""
        self._written[token] += 1


def _token(backend: Backend, text: str) -> int:
    tokens = backend.tokens(text)
    if len(tokens) != 1:
        pieces = ", ".join(repr(backend.piece(token).decode(errors="replace")) for token in tokens)
        msg = f"bias of {text!r}: it is {len(tokens)} tokens of this model: {pieces}; expected a text of one token"
        raise SettingsError(msg)
    return tokens[0]
