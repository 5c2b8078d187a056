"""The backend over llama-cpp-python's low-level functions: the only module that touches llama.cpp.

Written for llama-cpp-python 0.3.36 up to, not including, 0.4; what it needs is looked for at load. Calls that
abort the process (too many tokens or outputs in a batch, an unknown sequence, a token that a grammar does not
allow) are checked here first.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError, Model, Prompt, Step
from pytest_puma.engine.buffers import BatchBuffers
from pytest_puma.engine.chat import ChatFormat

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits, Mask

#: Prompt tokens of one `llama_decode`, and of one pass through the graph. Larger passes are no faster.
BATCH, MICRO_BATCH = 2048, 512
#: Requests run at once: on a CPU more of them only lengthen the attention of each other.
PARALLEL_CPU, PARALLEL_GPU = 16, 64
#: Sequences beyond the running requests: fork points and continuations.
EXTRA_SEQUENCES, EXTRA_STATES = 48, 8
#: Unshared cells: each query looks at every cell in use, whoever owns it.
GOOD_CELLS_CPU, GOOD_CELLS_GPU = 4096, 32768
_ERROR_LEVEL = 4
_NEEDED = """
    llama_model_load_from_file llama_init_from_model llama_get_memory llama_memory_clear llama_memory_seq_cp
    llama_memory_seq_rm llama_decode llama_get_logits llama_tokenize llama_token_to_piece llama_vocab_is_eog
    llama_sampler_init_grammar llama_print_system_info
""".split()  # noqa: SIM905 - a line each would be longer, and no clearer
_NEEDED_FIELDS = ("kv_unified", "swa_full", "n_outputs_max", "n_seq_max")


class NativeBackend:
    """A GGUF model in this process. Errors of llama.cpp become `EngineError` with its own last words."""

    def __init__(self, model: Model, *, threads: int, digest: str = "") -> None:
        _check_binding()
        _quiet()
        self._name = model.name
        self._memory: Any = None
        self._context: Any = None
        self._cells = 0
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = model.options.gpu_layers
        params.use_extra_bufts = not _has_amx()
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(model.path), params)
        if not self._model:
            self._fail(f"llama.cpp cannot load {model.path}")
        try:
            self._describe(model, threads=threads, digest=digest)
        except BaseException:
            self.close()
            raise

    def _describe(self, model: Model, *, threads: int, digest: str) -> None:
        """What the loaded model is and can do."""
        options = model.options
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._vocabulary = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}
        self._threads = options.threads or threads
        self.notes: Sequence[str] = ()
        self._set_limits(model)
        self._chat = self._chat_format(thinking=options.thinking)
        self.end_of_turn = self._find_end_of_turn()
        self.signature: Mapping[str, str] = {
            "weights_sha256": digest,
            "llama_cpp_python": str(llama_cpp.__version__),
            "threads": str(self._threads),
            "gpu": str(self._on_gpu),
            "amx": "off" if _has_amx() else "none",
            "parallel": str(self.parallel),
            "gpu_layers": str(options.gpu_layers),
            "n_ctx": str(options.n_ctx),
            "thinking": str(options.thinking),
        }

    def _set_limits(self, model: Model) -> None:
        options = model.options
        if llama_cpp.llama_model_has_encoder(self._model) or not llama_cpp.llama_model_has_decoder(self._model):
            self._fail("the model is no decoder-only language model; such models are not supported")
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
        self._on_gpu = options.gpu_layers != 0 and bool(llama_cpp.llama_supports_gpu_offload())
        stateful = llama_cpp.llama_model_is_recurrent(self._model) or llama_cpp.llama_model_is_hybrid(self._model)
        self.context_limit = min(trained, options.n_ctx or trained)
        self.cells = options.n_ctx
        self.good_cells = GOOD_CELLS_GPU if self._on_gpu else GOOD_CELLS_CPU
        self.parallel = options.parallel or (PARALLEL_GPU if self._on_gpu else PARALLEL_CPU)
        # Each sequence of a recurrent model costs memory for its state, used or not.
        self.sequences = self.parallel + (EXTRA_STATES if stateful else EXTRA_SEQUENCES)
        self.batch = BATCH
        self.rows = self.sequences

    # -- text and tokens -------------------------------------------------------------------------

    def encode(self, prompt: Prompt, continuation: str = "") -> list[int]:
        """The tokens of the prompt in the model's chat format, with a continuation of the assistant's turn."""
        # As one text, so that a token may merge across the end of the prompt.
        prompt = replace(prompt, prefill=prompt.prefill + continuation)
        if any(self._has_control(message.content) for message in prompt.messages):
            # A sample that spells a control token must not become one; pieces tokenise a little differently.
            pieces = self._chat.pieces(prompt)
            tokens = [token for text, trusted in pieces for token in self._tokenize(text, control=trusted)]
        else:
            tokens = self._tokenize(self._chat.render(prompt))
        bos = llama_cpp.llama_vocab_bos(self._vocab)
        # A template that prints the BOS token must not get a second one.
        if llama_cpp.llama_vocab_get_add_bos(self._vocab) and tokens[:1] != [bos]:
            tokens.insert(0, bos)
        return tokens

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        if token not in self._ends:
            self._ends[token] = bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))
        return self._ends[token]

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; none for a control token."""
        if token not in self._pieces:
            self._pieces[token] = self._token_text(token, special=False)
        return self._pieces[token]

    def grammar(self, text: str) -> NativeGrammar:
        """Start a GBNF grammar."""
        return NativeGrammar(self._vocab, self._vocabulary, text, self.is_end)

    def _has_control(self, text: str) -> bool:
        # Spelled-out control tokens are bracketed in every vocabulary; most texts have no bracket at all.
        if "<" not in text and "[" not in text:
            return False
        return any(llama_cpp.llama_vocab_is_control(self._vocab, token) for token in self._tokenize(text))

    def _tokenize(self, text: str, *, control: bool = True) -> list[int]:
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, control)  # noqa: FBT003
        if count < 0:
            self._fail(f"a prompt of {len(data)} bytes cannot be tokenised")
        return list(tokens[:count])

    def _token_text(self, token: int, *, special: bool) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, size, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def _chat_format(self, *, thinking: bool) -> ChatFormat:
        template = llama_cpp.llama_model_chat_template(self._model, None)
        if not template:
            self.notes = ("the file has no chat template; prompts use the plain format 'User: ... Assistant: ...'",)
        return ChatFormat(
            template.decode("utf-8", errors="replace") if template else None,
            bos=self._special(llama_cpp.llama_vocab_bos(self._vocab)),
            eos=self._special(llama_cpp.llama_vocab_eos(self._vocab)),
            thinking=thinking,
        )

    def _special(self, token: int) -> str:
        return self._token_text(token, special=True).decode("utf-8", errors="replace") if token >= 0 else ""

    def _find_end_of_turn(self) -> int:
        """What the template itself puts behind an answer, else what the vocabulary declares."""
        ends = [token for token in self._tokenize(self._chat.answered("x")) if self.is_end(token)]
        declared = [llama_cpp.llama_vocab_eot(self._vocab), llama_cpp.llama_vocab_eos(self._vocab)]
        found = next((int(token) for token in [*ends[-1:], *declared] if token >= 0), None)
        if found is None:
            self._fail("the vocabulary has no end-of-turn token")
        return found

    # -- the cache -------------------------------------------------------------------------------

    def open(self, cells: int) -> None:
        """An empty cache of `cells` tokens; the one at hand is emptied when it has that size."""
        if self._context is not None and self._cells == cells:
            llama_cpp.llama_memory_clear(self._memory, False)  # noqa: FBT003
            return
        self._free_context()
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = self._cells = cells
        params.n_batch = min(BATCH, cells)
        params.n_ubatch = min(MICRO_BATCH, cells)
        params.n_seq_max = self.sequences
        params.n_outputs_max = self.rows
        params.n_threads = params.n_threads_batch = self._threads
        params.kv_unified = True
        params.swa_full = True
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            self._context = None
            self._fail(f"llama.cpp cannot make a context of {cells} tokens for {self.sequences} sequences")
        self.batch = int(llama_cpp.llama_n_batch(self._context))
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._buffers = BatchBuffers(tokens=self.batch, rows=self.rows, sequences=self.sequences)
        self._batch = _batch_over(self._buffers)

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps; rows x vocabulary, valid until the next call."""
        self._batch.n_tokens, rows = self._buffers.fill(steps)
        code = llama_cpp.llama_decode(self._context, self._batch)
        if code:
            self._fail(f"llama_decode returned {code} for {self._batch.n_tokens} tokens")
        if not rows:
            return np.empty((0, self._vocabulary), dtype=np.float32)
        pointer = llama_cpp.llama_get_logits(self._context)
        return np.ctypeslib.as_array(pointer, shape=(rows, self._vocabulary))

    def fork(self, source: int, target: int) -> None:
        """The whole of a sequence into an empty one; the cells are shared, not copied."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""
        if not llama_cpp.llama_memory_seq_rm(self._memory, sequence, -1, -1):
            self._fail(f"llama.cpp does not let go of sequence {sequence}")

    def close(self) -> None:
        """Free the cache, then the weights. May be called twice."""
        self._free_context()
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None

    def _free_context(self) -> None:
        if self._context is not None:
            llama_cpp.llama_free(self._context)
            self._context = self._memory = None

    def _fail(self, what: str) -> NoReturn:
        msg = f"{self._name}: {what}{_last_words()}"
        raise EngineError(msg)


class NativeGrammar:
    """The state of a grammar along one response."""

    def __init__(self, vocab: Any, size: int, text: str, is_end: Callable[[int], bool]) -> None:
        self._size = size
        self._is_end = is_end
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, text.encode(), b"root")
        # A grammar that cannot be parsed comes back as a null pointer object, which is not None.
        if not self._sampler:
            self._sampler = None
            msg = f"llama.cpp cannot read the grammar {text!r}; expected GBNF with a rule named root{_last_words()}"
            raise EngineError(msg)

    def allows(self, token: int) -> bool:
        """Whether the token may come next."""
        return bool(np.isfinite(self._apply(np.array([token]))[0]))

    def mask(self) -> Mask:
        """Which tokens of the vocabulary may come next; tens of milliseconds for a large one."""
        return np.asarray(np.isfinite(self._apply(np.arange(self._size))), dtype=np.bool_)

    def accept(self, token: int) -> None:
        """Move on by a token. One that is not allowed would end the process, so it is refused."""
        if not self.allows(token):
            msg = f"the grammar does not allow token {token} here"
            raise EngineError(msg)
        if not self._is_end(token):
            llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free the state. May be called twice."""
        if self._sampler:
            llama_cpp.llama_sampler_free(self._sampler)
            self._sampler = None

    def _apply(self, tokens: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The logits, zero before, minus infinity where the grammar says no; in the order of `tokens`."""
        data = np.zeros(len(tokens), dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        data["id"] = tokens
        array = llama_cpp.llama_token_data_array(
            data=ctypes.cast(data.ctypes.data, llama_cpp.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.asarray(data["logit"])


def _batch_over(buffers: BatchBuffers) -> llama_cpp.llama_batch:
    """A `llama_batch` whose arrays are the buffers' own memory."""
    batch = llama_cpp.llama_batch()
    kinds = dict(llama_cpp.llama_batch._fields_)
    for name, array in buffers.arrays().items():
        setattr(batch, name, ctypes.cast(array.ctypes.data, kinds[name]))
    return batch


_LAST_WORDS: deque[str] = deque(maxlen=3)


def _listen(level: int, text: bytes, _data: Any) -> None:
    if level == _ERROR_LEVEL:
        _LAST_WORDS.append(text.decode("utf-8", errors="replace").strip())


def _last_words() -> str:
    """What llama.cpp gave as its reason, told once: it must not explain a later failure."""
    said = " ".join(_LAST_WORDS).strip()
    _LAST_WORDS.clear()
    return f" (llama.cpp said: {said})" if said else ""


# llama.cpp keeps a pointer to it: it must live as long as the process.
_LISTENER = llama_cpp.llama_log_callback(_listen)


def _quiet() -> None:
    """Keep llama.cpp's log off the terminal; its errors are told in the exception."""
    llama_cpp.llama_log_set(_LISTENER, ctypes.c_void_p(0))


def _has_amx() -> bool:
    """Whether this llama.cpp would compute on Intel's matrix unit, which must not be.

    As compiled by GCC, it may load a half-written configuration of the tiles, and the process dies at the first
    quantised matrix (llama.cpp issue 20824). That code comes with the buffers for repacked weights, and goes with them.
    """
    return b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info()


def _check_binding() -> None:
    fields = {name for name, *_ in llama_cpp.llama_context_params._fields_}
    missing = [name for name in _NEEDED if not hasattr(llama_cpp, name)]
    missing += [name for name in _NEEDED_FIELDS if name not in fields]
    if missing:
        msg = (
            f"llama-cpp-python {llama_cpp.__version__} lacks {', '.join(missing)}; "
            "expected a version from 0.3.36 up to, not including, 0.4"
        )
        raise EngineError(msg)
