"""The text side of a GGUF file and its limits: the common part of a backend with weights and one without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_puma.core import Model, Prompt
from pytest_puma.core.thoughts import Thoughts
from pytest_puma.engine.native.grammar import NativeGrammar
from pytest_puma.engine.native.limits import BATCH, Limits
from pytest_puma.engine.native.vocabulary import Vocabulary


class TextSide:
    """The part of `Backend` that needs no weights."""

    def __init__(self, loaded: Any, model: Model, limits: Limits, *, trained: int, threads: int) -> None:
        """`loaded` is llama.cpp's model, `trained` the context length of its training."""
        self.encoders = threads
        options = model.options
        self._vocabulary = Vocabulary(
            loaded,
            name=model.name,
            thinking=options.thinking,
            effort=options.reasoning_effort,
            chat=options.chat,
        )
        self.chat_format: Mapping[str, str] = self._vocabulary.chat_format if options.chat else {}
        self.ends_of_turn: Sequence[int] = self._vocabulary.ends_of_turn
        self.stops: Sequence[str] = self._vocabulary.stops
        self.notes: Sequence[str] = self._vocabulary.notes if options.chat else ()
        self.context_limit = min(trained, options.n_ctx or trained)
        self.kv_slots = options.n_ctx
        self.good_kv_slots, self.stream_kv_slots = limits.good_kv_slots, limits.stream_kv_slots
        self.parallel, self.parallel_streams = limits.parallel, limits.parallel_streams
        self.sequences = limits.sequences
        self.batch, self.rows = BATCH, limits.sequences

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:
        """Return the tokens of the prompt, in the model's chat format or as plain text, with a continuation."""
        return self._vocabulary.encode(prompt, continuation, answer=answer)

    def thoughts(self, prompt: Prompt) -> Thoughts:
        """Return the marks around thoughts that the reply to a prompt may have."""
        return self._vocabulary.thoughts(prompt)

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        return self._vocabulary.is_end(token)

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token; none for a control token."""
        return self._vocabulary.piece(token)

    def grammar(self, text: str) -> NativeGrammar:
        """Start a GBNF grammar."""
        return self._vocabulary.grammar(text)
