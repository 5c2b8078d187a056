"""Access to llama-cpp-python: its version, its log, and a part that crashes."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, NoReturn

import llama_cpp

from pytest_puma.core import EngineError, Model
from pytest_puma.engine.native.layout import check_layout
from pytest_puma.platform.interrupts import held

_WARN_LEVEL, _ERROR_LEVEL = 3, 4
_MAX_WARNINGS, _MAX_REASON = 5, 500
_NEEDED = """
    llama_model_load_from_file llama_init_from_model llama_get_memory llama_memory_clear llama_memory_seq_cp
    llama_memory_seq_rm llama_decode llama_get_logits llama_tokenize llama_token_to_piece llama_vocab_is_eog
    llama_sampler_init_grammar llama_print_system_info
""".split()  # noqa: SIM905 - one name per line would be longer, and no clearer
_NEEDED_FIELDS = ("kv_unified", "swa_full", "n_outputs_max", "n_seq_max")
#: llama.cpp reads it at the first decode; any value has the effect.
_NO_CUDA_GRAPHS = "GGML_CUDA_DISABLE_GRAPHS"
_ERRORS: deque[str] = deque(maxlen=3)
_WARNINGS: list[str] = []


def prepare() -> None:
    """Keep llama.cpp's log off the terminal, and CUDA graphs off; an `EngineError` if the binding does not fit.

    A replayed CUDA graph can end the process: on an H200 a kernel of cuBLAS met "an illegal instruction". Batches of
    changing sizes gain no time from graphs.
    """
    fields = {name for name, *_ in llama_cpp.llama_context_params._fields_}
    missing = [name for name in _NEEDED if not hasattr(llama_cpp, name)]
    missing += [name for name in _NEEDED_FIELDS if name not in fields]
    if missing:
        msg = (
            f"llama-cpp-python {llama_cpp.__version__} lacks {', '.join(missing)}; "
            "expected a version from 0.3.36 up to, not including, 0.4"
        )
        raise EngineError(msg)
    _check_layout()
    os.environ.setdefault(_NO_CUDA_GRAPHS, "1")
    llama_cpp.llama_log_set(_CALLBACK, ctypes.c_void_p(0))


@cache
def _check_layout() -> None:
    check_layout(llama_cpp.llama_cpp._lib)  # noqa: SLF001 - the binding has no other name for it


def error_log() -> str:
    """Return llama.cpp's last error messages, and clear them: they must not explain a later failure."""
    # Texts of the file, of any length, may be in them.
    reason = " ".join(_ERRORS).strip()[:_MAX_REASON]
    _ERRORS.clear()
    return f" (llama.cpp: {reason})" if reason else ""


def refuse_load(model: Model) -> NoReturn:
    """Raise the `EngineError` for a model that llama.cpp did not load."""
    msg = (
        f"{model.name}: llama.cpp cannot load {model.path}{error_log()}; expected a whole file of a model that "
        f"llama-cpp-python {llama_cpp.__version__} knows: download it again, or try another version"
    )
    raise EngineError(msg)


def uninterrupted() -> AbstractContextManager[Sequence[int]]:
    """Let Ctrl-C wait for the end of calls that write to the log; the value of the block is true if it waits.

    Python would raise `KeyboardInterrupt` inside our function for the log, where ctypes drops it.
    """
    return held(patience=None)


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Collect llama.cpp's warnings inside the block, each sentence once, and the number of those beyond the limit."""
    sentences: list[str] = []
    _WARNINGS.clear()
    yield sentences
    different = list(dict.fromkeys(" ".join(text.split()) for text in _WARNINGS))
    sentences += [f"llama.cpp warns: {text[:_MAX_REASON]}" for text in different[:_MAX_WARNINGS]]
    if len(different) > _MAX_WARNINGS:
        sentences.append(f"llama.cpp: {len(different) - _MAX_WARNINGS} more warnings")
    _WARNINGS.clear()


def has_amx() -> bool:
    """Whether this llama.cpp would compute on Intel's matrix unit (AMX), which is not safe.

    Compiled by GCC, it may load a half-written configuration of the tiles, and the process dies at the first quantised
    matrix (llama.cpp issue 20824). Disabling the buffers for repacked weights disables that code.
    """
    return b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info()


def on_log(level: int, text: bytes, _data: Any = None) -> None:
    """Record a line of llama.cpp's log."""
    if level == _ERROR_LEVEL:
        _ERRORS.append(text.decode("utf-8", errors="replace").strip())
    if level == _WARN_LEVEL:
        _WARNINGS.append(text.decode("utf-8", errors="replace"))


# llama.cpp keeps pointers to them: they must live as long as the process.
_CALLBACK = llama_cpp.llama_log_callback(on_log)
#: A C function without any effect, whatever its arguments are.
_SILENCE = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, llama_cpp.llama_log_callback)


def silent_decode(context: Any, batch: Any) -> int:
    """Call `llama_decode` without the log, to which a GPU writes each time.

    Python would handle Ctrl-C, or the signal of a time limit, inside our function for the log, where ctypes drops the
    exception.
    """
    try:
        llama_cpp.llama_log_set(_SILENCE, ctypes.c_void_p(0))
        return int(llama_cpp.llama_decode(context, batch))
    finally:
        llama_cpp.llama_log_set(_CALLBACK, ctypes.c_void_p(0))
