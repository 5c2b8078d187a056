"""The backend over llama.cpp: a model's weights, and the KV cache of its sequences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError, Model, Step
from pytest_puma.engine.native import binding
from pytest_puma.engine.native.buffers import BatchBuffers, batch_over
from pytest_puma.engine.native.hidden import HiddenStates
from pytest_puma.engine.native.hooks import Hooks
from pytest_puma.engine.native.made_vector import made_vector
from pytest_puma.engine.native.placement import loaded_here, out_of_memory, useless_options
from pytest_puma.engine.native.prefix import KeptPrefix, is_prefix, pass_ends
from pytest_puma.engine.native.steer import Controls, TryFirst
from pytest_puma.engine.native.text import TextSide, context_params
from pytest_puma.models.weights import OpenedFiles

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits


class NativeBackend(TextSide):
    """A GGUF model in this process, on one GPU (`gpu` is its number) or on all GPUs.

    Errors of llama.cpp become an `EngineError` that quotes its last error messages. `try_first` is called with an
    adapter before llama.cpp reads it, which ends the process with some.
    """

    def __init__(
        self,
        model: Model,
        *,
        threads: int,
        gpu: int | None = None,
        digest: str = "",
        try_first: TryFirst | None = None,
    ) -> None:
        binding.prepare()
        requested = model.options
        self._try_first = try_first
        self._on_weights: Controls | None = None
        #: On the open context; None without any.
        self.hooks: Hooks | None = None
        self._files = OpenedFiles(model)
        self._model: Any = None
        self._memory: Any = None
        self._context: Any = None
        #: The shape of the open cache, and its options; None until it is ready for use.
        self._shape: tuple[int, int, str | None, str | None] | None = None
        #: Whether the open cache has streams, and whether nothing was computed in it.
        self._streams = self._empty = False
        #: Whether all numbers that were computed in the open cache are finite, as far as logits show it.
        self._finite = True
        self._kept_prefix = KeptPrefix()
        try:
            with binding.captured_warnings() as warnings:
                self._model, model, self._fit = loaded_here(model, gpu)
            self._loaded = model
            self._files.check_loaded()
            trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
            super().__init__(self._model, model, trained=trained, threads=threads, digest=digest)
            self.notes = self._plain_notes = (*self.notes, *warnings, *useless_options(requested))
        except BaseException:
            self.close()
            raise

    # -- the cache -------------------------------------------------------------------------------

    def open(self, kv_slots: int, streams: int = 0) -> None:
        """Open an empty cache of `kv_slots` tokens; the current one is cleared and reused if it has the same shape."""
        hooks, shape = self._hooks_of_variant(), (kv_slots, streams, self._chosen("kv"), self._chosen("flash"))
        if self._shape == shape and self.hooks is hooks:
            # A masked key has the weight 0, and 0 times NaN is NaN.
            llama_cpp.llama_memory_clear(self._memory, not self._finite)
        else:
            self._make_context(kv_slots, streams, hooks=hooks)
        self._shape, self._finite = None, True
        self._put_on_variant()
        self._shape, self._streams, self._empty = shape, streams > 0, True

    def _chosen(self, option: Literal["kv", "flash"]) -> str | None:
        """The value of an option that the variant has; None for the default."""
        return None if self._variant is None else self._variant.value(option)

    def _make_context(self, kv_slots: int, streams: int, *, hooks: Hooks | None) -> None:
        self._free_context()
        self.hooks = hooks
        params = context_params(kv_slots, streams, rows=self.rows, ubatch=self._options.ubatch, variant=self._variant)
        sequences = streams or self.sequences
        params.n_threads = params.n_threads_batch = self.encoders
        if hooks is not None:
            params.cb_eval = hooks.callback
        flash, quantised = self._chosen("flash"), "q" in (self._chosen("kv") or "")
        if self._options.strict and not self._on_gpu and (flash == "on" or quantised):
            self._fail("strict uses no flash attention on a CPU; expected neither flash=on nor a quantised kv= with it")
        if (self._options.strict or (streams and binding.has_amx())) and not (self._on_gpu or flash or quantised):
            # On a CPU, the results of flash attention depend on the number of threads. With streams, it took a fifth
            # longer per decoded token on processors with half-precision arithmetic, such as those with AMX; on others
            # a tenth to a third less, because it skips the KV slots that a shorter stream leaves empty.
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        with binding.uninterrupted():
            self._context = llama_cpp.llama_init_from_model(self._model, params) or None
        if self._context is None:
            what = f"llama.cpp cannot make a context of {kv_slots} tokens for {sequences} sequences"
            error = EngineError(f"{self._name}: {what}{binding.error_log()}")
            raise out_of_memory(error, self._loaded, self._fit)
        self.batch = int(llama_cpp.llama_n_batch(self._context))
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._buffers = BatchBuffers(tokens=self.batch, rows=self.rows, sequences=sequences)
        self._batch = batch_over(self._buffers)

    def _hooks_of_variant(self) -> Hooks | None:
        """The hooks that the variant needs: a context has a callback for them from its beginning, or none."""
        if self._variant is not None and self._on_weights is None:
            self._on_weights = Controls(self._model, self._name, try_first=self._try_first, make=self.vector_of)
        hooked = self._variant is not None and any(control.hooked for control in self._variant.controls)
        return self._on_weights.hooks if hooked and self._on_weights is not None else None

    def _put_on_variant(self) -> None:
        if self._on_weights is not None:
            self.notes = (*self._plain_notes, *self._on_weights.put_on(self._context, self._variant))

    def hidden_states(self) -> HiddenStates:
        """Return a reader of the outputs of the layers, with a context of its own; close it before the model."""
        return HiddenStates(self._model, threads=self.encoders)

    def vector_of(self, pairs: Path) -> Path:
        """Return the file of the control vector that the plain model makes from pairs of texts."""
        return made_vector(pairs, self, weights=self.signature.get("weights_sha256", ""), chat=self._options.chat)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps; return logits (rows x vocabulary), valid until the next call.

        The first shared prefix of a cell is copied as far as the cell before computed the same passes.
        """
        empty, self._empty, self.copied = self._empty, False, 0
        if empty and self._keeps_prefix and self.hooks is None and is_prefix(steps):
            self._compute_prefix(steps[0])
            return np.empty((0, self.size), dtype=np.float32)
        return self._compute(steps)

    def _compute_prefix(self, step: Step) -> None:
        kind = (self._variant, self._streams)
        self.copied = start = self._kept_prefix.restore(self._context, step.sequence, step.tokens, kind)
        for end in pass_ends(len(step.tokens), start):
            self._compute([Step(step.sequence, start, step.tokens[start:end], end - start)])
            start = end
        if self.copied < len(step.tokens):
            self._kept_prefix.keep(self._context, step.sequence, step.tokens, kind)

    def _compute(self, steps: Sequence[Step]) -> Logits:
        self._batch.n_tokens, rows = self._buffers.fill(steps)
        # Before, as reading beyond the end of a file that was shortened ends the process.
        self._files.check()
        decode = binding.silent_decode if self._on_gpu else llama_cpp.llama_decode
        if self.hooks is None:
            code = decode(self._context, self._batch)
        else:
            code = self.hooks.decode(self._context, self._batch, steps)
        if code:
            self._fail(f"llama_decode returned {code} for {self._batch.n_tokens} tokens")
        self._files.check()
        if not rows:
            return np.empty((0, self.size), dtype=np.float32)
        pointer = llama_cpp.llama_get_logits(self._context)
        logits = np.ctypeslib.as_array(pointer, shape=(rows, self.size))
        # A state that is not finite makes each logit of its row one that is not.
        self._finite = self._finite and bool(np.isfinite(logits[:, 0]).all())
        return logits

    def fork(self, source: int, target: int) -> None:
        """Fork a whole sequence into an empty one; the KV slots are shared, or copied between streams."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, -1, -1)
        if self.hooks is not None:
            self.hooks.fork(source, target)

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""
        if not llama_cpp.llama_memory_seq_rm(self._memory, sequence, -1, -1):
            self._fail(f"llama.cpp cannot empty sequence {sequence}")
        if self.hooks is not None:
            self.hooks.drop(sequence)

    def close(self) -> None:
        """Free the cache, then the weights. May be called twice."""
        self._free_context()
        with binding.uninterrupted():
            if self._model:
                llama_cpp.llama_model_free(self._model)
                self._model = None
        self._files.close()

    def _free_context(self) -> None:
        with binding.uninterrupted():
            if self._context is not None:
                llama_cpp.llama_free(self._context)
            self._context = self._memory = self._shape = None

    def _fail(self, what: str) -> NoReturn:
        msg = f"{self._name}: {what}{binding.error_log()}"
        raise EngineError(msg)
