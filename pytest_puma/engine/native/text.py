"""The text side of a model with its limits, and a backend of it alone: the cost of a run is counted, not computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import Model, Step
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native.binding import loaded, prepare
from pytest_puma.engine.native.build import signature_of
from pytest_puma.engine.native.limits import BATCH, limits_of
from pytest_puma.engine.native.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


class TextSide(Vocabulary):
    """The part of `Backend` that needs no weights: the vocabulary, the chat format and the limits."""

    def __init__(self, pointer: Any, model: Model, *, trained: int, threads: int, digest: str | None) -> None:
        """`pointer` is that of llama.cpp's model, `trained` the context length of its training."""
        self._options, limits = model.options, limits_of(pointer, model)
        super().__init__(pointer, model)
        self.encoders = model.options.threads or threads
        self.context_limit = min(trained, model.options.n_ctx or trained)
        self.kv_slots = model.options.n_ctx
        self.good_kv_slots, self.stream_kv_slots = limits.good_kv_slots, limits.stream_kv_slots
        self.parallel, self.parallel_streams = limits.parallel, limits.parallel_streams
        self.batch, self.rows, self.sequences = BATCH, limits.sequences, limits.sequences
        self._on_gpu = limits.on_gpu
        self.signature: Mapping[str, str] = {}
        if digest is not None:
            self.signature = signature_of(
                model, limits, digest=digest, threads=self.encoders, chat_format=self.chat_format
            )


class DryBackend(TextSide):
    """The vocabulary of a GGUF file; every reply is empty. `opened`: KV slots and streams of the largest cache.

    Prompts have the same tokens and shared prefixes as with the weights. `context_limit` is the model's own, which the
    vocabulary alone does not contain. With the `digest` of the weights and the number of `threads`, the signature is
    that of the backend with the weights.
    """

    def __init__(self, model: Model, *, context_limit: int, digest: str | None = None, threads: int = 0) -> None:
        prepare()
        params = llama_cpp.llama_model_default_params()
        params.vocab_only = True
        self._model = loaded(model, params)
        try:
            super().__init__(self._model, model, trained=context_limit, threads=threads or cores(), digest=digest)
        except BaseException:
            self.close()
            raise
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
