"""Fakes for tests: a backend that answers from a script, so that scenarios can be tried without a GGUF.

    engine = Engine(ScriptedBackend({"login crashes": "Critical"}, default="Minor"))
    outcome = evaluate(cell, engine)

It stands in for llama.cpp alone: scheduler, sampling and everything above it are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import EngineError, Prompt, Step
from pytest_puma.engine.engine import Engine

if TYPE_CHECKING:
    from pytest_puma.core.backend import Grammar, Logits

__all__ = ["Engine", "ScriptedBackend"]

_END = 256
_VOCABULARY = 257
_ASSISTANT = b"\n\x02assistant\x03"


class ScriptedBackend:
    """A model whose tokens are bytes and whose answers are written down.

    `script` is a function from the prompt's text to the answer, or a table: the answer is that of the
    first key which the prompt's last message contains, else `default`. The next byte of the answer has
    a logit of `confidence`, all others 0: scoring finds the scripted answer most probable.
    """

    def __init__(
        self,
        script: Mapping[str, str] | Callable[[str], str],
        *,
        default: str = "",
        confidence: float = 50.0,
        context_limit: int = 1_000_000,
        parallel: int = 16,
    ) -> None:
        self._script = script
        self._default = default
        self._confidence = confidence
        self._held: dict[int, bytearray] = {}
        self._known: dict[bytes, bytes] = {}
        self.context_limit = context_limit
        self.kv_slots: int | None = None
        self.good_kv_slots = context_limit
        self.stream_kv_slots = 0
        self.batch = 8192
        self.parallel = self.parallel_streams = parallel
        self.encoders = 1
        self.sequences = parallel + 48
        self.rows = self.sequences
        self.ends_of_turn: Sequence[int] = (_END,)
        self.signature: Mapping[str, str] = {"backend": "scripted"}
        self.stops: Sequence[str] = ()
        self.notes: Sequence[str] = ()

    def encode(self, prompt: Prompt, continuation: str = "") -> list[int]:
        """The bytes of the chat."""
        turns = "".join(f"\n\x02{message.role}\x03{message.content}" for message in prompt.messages)
        return list(turns.encode() + _ASSISTANT + (prompt.prefill + continuation).encode())

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        return token == _END

    def piece(self, token: int) -> bytes:
        """The byte itself."""
        return b"" if token == _END else bytes([token])

    def open(self, kv_slots: int, streams: int = 0) -> None:  # noqa: ARG002 - it has room for any number
        """Forget every sequence, and what was answered."""
        self._held, self._known = {}, {}

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Append the tokens; each wanted row is sure of the script's next byte."""
        rows: list[int] = []
        for step in steps:
            held = self._held.setdefault(step.sequence, bytearray())
            if step.start != len(held):
                msg = f"sequence {step.sequence} holds {len(held)} tokens; it cannot go on at {step.start}"
                raise EngineError(msg)
            held += bytes(list(step.tokens))
            first = step.start + step.rows_from
            rows.extend(self._next(held[: position + 1]) for position in range(first, len(held)))
        logits = np.zeros((len(rows), _VOCABULARY), dtype=np.float32)
        logits[np.arange(len(rows)), rows] = self._confidence
        return logits

    def fork(self, source: int, target: int) -> None:
        """Copy a sequence."""
        self._held[target] = bytearray(self._held[source])

    def drop(self, sequence: int) -> None:
        """Forget a sequence."""
        self._held.pop(sequence, None)

    def grammar(self, text: str) -> Grammar:
        """Refused: a script needs no grammar."""
        msg = f"the scripted backend has no grammars; got {text!r}"
        raise EngineError(msg)

    def close(self) -> None:
        """Forget everything."""
        self._held, self._known = {}, {}

    def _next(self, held: bytearray) -> int:
        prompt, _, said = held.rpartition(_ASSISTANT)
        answer = self._answer(bytes(prompt))
        return answer[len(said)] if answer.startswith(said) and len(said) < len(answer) else _END

    def _answer(self, prompt: bytes) -> bytes:
        if prompt not in self._known:
            text = prompt.decode()
            if callable(self._script):
                answer = self._script(text)
            else:
                last = text.rpartition("\x03")[2]
                answer = next((said for key, said in self._script.items() if key in last), self._default)
            self._known[prompt] = answer.encode()
        return self._known[prompt]
