"""A model without its weights: the cost of a run is counted, not computed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import Model, Step
from pytest_puma.engine.cores import cores
from pytest_puma.engine.native.binding import prepare, refuse_load, uninterrupted
from pytest_puma.engine.native.build import signature_of
from pytest_puma.engine.native.limits import BATCH, limits_of
from pytest_puma.engine.native.text import TextSide

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


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
        self._logits = np.zeros((self.rows, self._vocabulary.size), dtype=np.float32)
        self._logits[:, self._vocabulary.stop] = 1.0
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
