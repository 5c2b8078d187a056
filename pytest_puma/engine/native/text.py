"""The text side of a model with its limits, and a backend of it alone: the cost of a run is counted, not computed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import Model, Step
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native.binding import prepare, refuse_load, uninterrupted
from pytest_puma.engine.native.build import signature_of
from pytest_puma.engine.native.limits import BATCH, Limits, limits_of
from pytest_puma.engine.native.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


class TextSide(Vocabulary):
    """The part of `Backend` that needs no weights: the vocabulary, the chat format and the limits."""

    def __init__(self, loaded: Any, model: Model, limits: Limits, *, trained: int, threads: int) -> None:
        """`loaded` is llama.cpp's model, `trained` the context length of its training."""
        options = model.options
        super().__init__(
            loaded,
            name=model.name,
            thinking=options.thinking,
            effort=options.reasoning_effort,
            chat=options.chat,
        )
        if not options.chat:
            self.chat_format, self.notes = {}, ()
        self.encoders = threads
        self.context_limit = min(trained, options.n_ctx or trained)
        self.kv_slots = options.n_ctx
        self.good_kv_slots, self.stream_kv_slots = limits.good_kv_slots, limits.stream_kv_slots
        self.parallel, self.parallel_streams = limits.parallel, limits.parallel_streams
        self.sequences = limits.sequences
        self.batch, self.rows = BATCH, limits.sequences


class DryBackend(TextSide):
    """The vocabulary of a GGUF file; every reply is empty. `opened`: KV slots and streams of the largest cache.

    Prompts have the same tokens and shared prefixes as with the weights. `context_limit` is the model's own, which the
    vocabulary alone does not contain. With the `digest` of the weights and the number of `threads`, the signature is
    that of the backend with the weights.
    """

    def __init__(self, model: Model, *, context_limit: int, digest: str = "", threads: int = 0) -> None:
        prepare()
        params = llama_cpp.llama_model_default_params()
        params.vocab_only = True
        self._model: Any = None
        try:
            with uninterrupted():
                self._model = llama_cpp.llama_model_load_from_file(os.fsencode(model.path), params)
            if not self._model:
                refuse_load(model)
            limits = limits_of(self._model, model)
            super().__init__(self._model, model, limits, trained=context_limit, threads=cores())
        except BaseException:
            self.close()
            raise
        threads = model.options.threads or threads or cores()
        self.signature: Mapping[str, str] = (
            signature_of(model, limits, digest=digest, threads=threads, chat_format=self.chat_format) if digest else {}
        )
        self._logits = np.zeros((self.rows, self.size), dtype=np.float32)
        self._logits[:, self.stop] = 1.0
        self.opened = (0, 0)

    def open(self, kv_slots: int, streams: int = 0) -> None:
        """Record the size."""
        self.opened = max(self.opened, (kv_slots, streams))
        self.batch = min(BATCH, kv_slots)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Return logits that always choose the end of the generation."""
        return self._logits[: sum(len(step.tokens) - step.rows_from for step in steps)]

    def fork(self, source: int, target: int) -> None:
        """Do nothing: there is no cache to share."""

    def drop(self, sequence: int) -> None:
        """Do nothing: there is no cache to free."""

    def close(self) -> None:
        """Free the vocabulary. May be called twice."""
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None
