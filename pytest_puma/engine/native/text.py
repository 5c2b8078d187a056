"""The text side of a model with its limits, and a backend of it alone: the cost of a run is counted, not computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError, Model, Step
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native import limits
from pytest_puma.engine.native.binding import has_amx, loaded, prepare
from pytest_puma.engine.native.build import build_signature, offloads
from pytest_puma.engine.native.vocabulary import Vocabulary
from pytest_puma.models.gguf import read_gguf

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


class TextSide(Vocabulary):
    """The part of `Backend` that needs no weights: the vocabulary, the chat format, the limits and the signature."""

    def __init__(self, pointer: Any, model: Model, *, trained: int, threads: int, digest: str | None) -> None:
        """`pointer` is that of llama.cpp's model, `trained` the context length of its training."""
        if llama_cpp.llama_model_has_encoder(pointer) or not llama_cpp.llama_model_has_decoder(pointer):
            msg = f"{model.name}: the model is no decoder-only language model; such models are not supported"
            raise EngineError(msg)
        super().__init__(pointer, model)
        self._options = options = model.options
        self._on_gpu = on_gpu = options.gpu_layers != 0 and offloads()
        stateful = llama_cpp.llama_model_is_recurrent(pointer) or llama_cpp.llama_model_is_hybrid(pointer)
        self.encoders = options.threads or threads
        self.context_limit = min(trained, options.n_ctx or trained)
        self.kv_slots = options.n_ctx
        self.good_kv_slots = limits.GOOD_KV_SLOTS_GPU if on_gpu else limits.GOOD_KV_SLOTS_CPU
        self.stream_kv_slots = 0 if on_gpu or stateful or options.strict else _stream_kv_slots(model)
        # A strict model gets one sequence for a prompt and one for a continuation: none is left for a prefix that
        # samples share. Each sequence of a recurrent model costs memory for its state, used or not.
        many = limits.PARALLEL_GPU if on_gpu else limits.PARALLEL_CPU
        self.parallel = 1 if options.strict else options.parallel or many
        self.parallel_streams = 1 if options.strict else options.parallel or limits.PARALLEL_STREAMS
        extra = limits.EXTRA_STATES if stateful else limits.EXTRA_SEQUENCES
        self.sequences = self.rows = 2 if options.strict else self.parallel + extra
        self.batch = limits.BATCH
        self.signature: Mapping[str, str] = {} if digest is None else self._signature(digest)

    def _signature(self, digest: str) -> Mapping[str, str]:
        """The signature of a model whose weights have this digest."""
        options = self._options
        return {
            "weights_sha256": digest,
            "llama_cpp_python": str(llama_cpp.__version__),
            **build_signature(),
            "threads": str(self.encoders),
            "gpu": str(self._on_gpu),
            "amx": "off" if has_amx() else "none",
            "parallel": str(self.parallel),
            "gpu_layers": str(options.gpu_layers),
            "n_ctx": str(options.n_ctx),
            "chat": str(options.chat),
            "chat_format": "; ".join(f"{name}: {fact}" for name, fact in self.chat_format.items()),
            "thinking": str(options.thinking),
            "reasoning_effort": str(options.reasoning_effort),
            "strict": str(options.strict),
        }


def _stream_kv_slots(model: Model) -> int:
    slot_bytes = read_gguf(model.path).kv_slot_bytes or limits.DEFAULT_KV_SLOT_BYTES
    return min(limits.STREAM_KV_SLOTS, limits.STREAM_BYTES // slot_bytes)


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
        self.batch = min(limits.BATCH, kv_slots)

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
