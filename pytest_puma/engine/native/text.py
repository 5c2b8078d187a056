"""The text side of a model with its limits, and a backend of it alone: the cost of a run is counted, not computed.

llama.cpp writes the memory that a context takes to its log, also where nothing is allocated:

    llama_context:        CPU  output buffer size =     3.00 MiB
    llama_kv_cache: size =   90.00 MiB (  4096 cells,  30 layers, 16/1 seqs), K (f16):   45.00 MiB, V (f16):   45.00 MiB
    sched_reserve:        CPU compute buffer size =    17.51 MiB
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError, Model, Step
from pytest_puma.core.backend import AnyText
from pytest_puma.core.variant import Variant, varied
from pytest_puma.engine.fit import GOOD_KV_SLOTS
from pytest_puma.engine.machine import cores
from pytest_puma.engine.native import rpc
from pytest_puma.engine.native.binding import has_amx, loaded, prepare, uninterrupted
from pytest_puma.engine.native.build import build_signature
from pytest_puma.engine.native.placement import fit_here, is_offloaded, use_no_gpu, with_layers
from pytest_puma.engine.native.vocabulary import Vocabulary
from pytest_puma.models.gguf import read_gguf

if TYPE_CHECKING:
    from pytest_puma.core.backend import Grammar, Logits

#: Prompt tokens of one `llama_decode`, and of one pass through the graph. Larger passes are no faster.
BATCH, MICRO_BATCH = 2048, 512
#: Requests at once: on a CPU, more requests only slow down each other's attention.
_PARALLEL_CPU, _PARALLEL_GPU = 16, 64
#: More with streams, where each request visits only its own KV slots.
_PARALLEL_STREAMS = 28
#: Sequences beyond the running requests: fork points and continuations.
_EXTRA_SEQUENCES, _EXTRA_STATES = 48, 8
#: Unshared KV slots: each query visits every slot in use, of whatever sequence.
_GOOD_KV_SLOTS_CPU = 4096
#: KV slots of all streams together, and their bytes: more than a shared cache, as each stream fits the longest request.
_STREAM_KV_SLOTS, _STREAM_BYTES = 32768, 2 << 30
#: Bytes of a KV slot if the file does not specify them: as in models of 8B.
_DEFAULT_KV_SLOT_BYTES = 128 << 10
_FLASH = {"on": "ENABLED", "off": "DISABLED"}
_SIZE = re.compile(rb"size = +([\d.]+) MiB")


class TextSide(Vocabulary):
    """The part of `Backend` that needs no weights: the vocabulary, the chat format, the limits and the signature."""

    def __init__(self, pointer: Any, model: Model, *, trained: int, threads: int, digest: str | None) -> None:
        """`pointer` is that of llama.cpp's model, `trained` the context length of its training."""
        if llama_cpp.llama_model_has_encoder(pointer) or not llama_cpp.llama_model_has_decoder(pointer):
            msg = f"{model.name}: the model is no decoder-only language model; such models are not supported"
            raise EngineError(msg)
        super().__init__(pointer, model)
        self._options = options = model.options
        self._on_gpu = on_gpu = is_offloaded(options)
        stateful = llama_cpp.llama_model_is_recurrent(pointer) or llama_cpp.llama_model_is_hybrid(pointer)
        self.encoders = options.threads or threads
        self.context_limit = min(trained, options.n_ctx or trained)
        self.kv_slots = options.n_ctx
        self.good_kv_slots = GOOD_KV_SLOTS if on_gpu else _GOOD_KV_SLOTS_CPU
        self.stream_kv_slots = 0 if on_gpu or stateful or options.strict else _stream_kv_slots(model)
        # A strict model gets one sequence for a prompt and one for a continuation: none is left for a prefix that
        # samples share. Each sequence of a recurrent model costs memory for its state, used or not.
        many = _PARALLEL_GPU if on_gpu else _PARALLEL_CPU
        self.parallel = 1 if options.strict else options.parallel or many
        self.parallel_streams = 1 if options.strict else options.parallel or _PARALLEL_STREAMS
        extra = _EXTRA_STATES if stateful else _EXTRA_SEQUENCES
        self.sequences = self.rows = 2 if options.strict else self.parallel + extra
        self.batch = max(BATCH, options.ubatch or 0)
        # A state cannot be cut. With a sliding window, the keys and values of equal passes differed in their last bits.
        self._keeps_prefix = not (on_gpu or stateful or options.strict or llama_cpp.llama_model_n_swa(pointer))
        self.copied = 0
        self.signature: Mapping[str, str] = {} if digest is None else self._signature(digest)
        self.vary(model.variant)

    def vary(self, variant: Variant | None) -> None:
        """Answer as this variant from the next `open` on."""
        self._variant = variant
        if self.signature:
            self.signature = varied(self.signature, variant)

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
            **options.signature,
            **rpc.signature(options),
        }


def _stream_kv_slots(model: Model) -> int:
    slot_bytes = read_gguf(model.path).kv_slot_bytes or _DEFAULT_KV_SLOT_BYTES
    return min(_STREAM_KV_SLOTS, _STREAM_BYTES // slot_bytes)


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
        use_no_gpu(params)
        self._model = loaded(model, params)
        try:
            placed = with_layers(model, fit_here(model))
            super().__init__(self._model, placed, trained=context_limit, threads=threads or cores(), digest=digest)
        except BaseException:
            self.close()
            raise
        self._logits = np.zeros((self.rows, self.size), dtype=np.float32)
        self._logits[:, self.stop] = 1.0
        self.opened = (0, 0)

    def open(self, kv_slots: int, streams: int = 0) -> None:
        """Record the size."""
        self.opened = max(self.opened, (kv_slots, streams))
        self.batch = min(max(BATCH, self._options.ubatch or 0), kv_slots)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Return logits that always choose the end of the generation."""
        return self._logits[: sum(len(step.tokens) - step.rows_from for step in steps)]

    def grammar(self, text: str) -> Grammar:  # noqa: ARG002 - of any text
        """Return a grammar that allows the end at once."""
        return AnyText(self.size)

    def fork(self, source: int, target: int) -> None:
        """Do nothing: there is no cache to share."""

    def drop(self, sequence: int) -> None:
        """Do nothing: there is no cache to free."""

    def close(self) -> None:
        """Free the vocabulary. May be called twice."""
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None


def context_params(
    kv_slots: int, streams: int, *, rows: int, ubatch: int | None = None, variant: Variant | None = None
) -> llama_cpp.llama_context_params:
    """Return the parameters of a cache that all of `rows` sequences share, or that is divided among `streams`.

    `ubatch`: tokens of a pass through the graph; `variant`: whose options of the engine they have.
    """
    ubatch = ubatch or MICRO_BATCH
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = kv_slots
    params.n_batch = min(max(BATCH, ubatch), kv_slots)
    params.n_ubatch = min(ubatch, kv_slots)
    params.n_seq_max = streams or rows
    params.n_outputs_max = rows
    params.kv_unified = not streams
    params.swa_full = True
    kv, flash = (None, None) if variant is None else (variant.value("kv"), variant.value("flash"))
    if kv is not None:
        params.type_k = params.type_v = getattr(llama_cpp, f"GGML_TYPE_{kv.upper()}")
    if flash is not None:
        params.flash_attn_type = getattr(llama_cpp, f"LLAMA_FLASH_ATTN_TYPE_{_FLASH[flash]}")
    return params


@cache
def context_bytes(model: Model, opened: tuple[int, int], *, sequences: int) -> int:
    """Return the bytes of a context with these KV slots and streams; 0 if llama.cpp refuses to plan it."""
    if not opened[0]:
        return 0
    prepare()
    lines: list[bytes] = []
    note = llama_cpp.llama_log_callback(lambda _level, text, _data: lines.append(text))
    params = llama_cpp.llama_model_default_params()
    # Together with memory maps, it would abort the process.
    params.no_alloc, params.load_mode = True, llama_cpp.LLAMA_LOAD_MODE_NONE
    params.n_gpu_layers = 0
    use_no_gpu(params)
    pointer = loaded(model, params)
    try:
        with uninterrupted():
            llama_cpp.llama_log_set(note, ctypes.c_void_p(0))
            context = llama_cpp.llama_init_from_model(
                pointer,
                context_params(*opened, rows=sequences, ubatch=model.options.ubatch, variant=model.variant),
            )
            if context:
                llama_cpp.llama_free(context)
    finally:
        prepare()
        llama_cpp.llama_model_free(pointer)
    return round(sum(float(size) for size in _SIZE.findall(b"".join(lines))) * 2**20)
