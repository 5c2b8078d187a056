"""What stands between us and llama-cpp-python: its version, its log, and one part that crashes."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError

_WARN_LEVEL, _ERROR_LEVEL = 3, 4
_MOST_WARNINGS = 5
_NEEDED = """
    llama_model_load_from_file llama_init_from_model llama_get_memory llama_memory_clear llama_memory_seq_cp
    llama_memory_seq_rm llama_decode llama_get_logits llama_tokenize llama_token_to_piece llama_vocab_is_eog
    llama_sampler_init_grammar llama_print_system_info
""".split()  # noqa: SIM905 - a line each would be longer, and no clearer
_NEEDED_FIELDS = ("kv_unified", "swa_full", "n_outputs_max", "n_seq_max")
_LAST_WORDS: deque[str] = deque(maxlen=3)
_WARNINGS: list[str] = []


def prepare() -> None:
    """Keep llama.cpp's log off the terminal; an `EngineError` where the binding lacks something that is needed."""
    fields = {name for name, *_ in llama_cpp.llama_context_params._fields_}
    missing = [name for name in _NEEDED if not hasattr(llama_cpp, name)]
    missing += [name for name in _NEEDED_FIELDS if name not in fields]
    if missing:
        msg = (
            f"llama-cpp-python {llama_cpp.__version__} lacks {', '.join(missing)}; "
            "expected a version from 0.3.36 up to, not including, 0.4"
        )
        raise EngineError(msg)
    llama_cpp.llama_log_set(_LISTENER, ctypes.c_void_p(0))


def last_words() -> str:
    """What llama.cpp gave as its reason, told once: it must not explain a later failure."""
    said = " ".join(_LAST_WORDS).strip()
    _LAST_WORDS.clear()
    return f" (llama.cpp said: {said})" if said else ""


@contextmanager
def warnings_heard() -> Iterator[list[str]]:
    """What llama.cpp warns about meanwhile: each sentence once, the number of those that are too many to read."""
    sentences: list[str] = []
    _WARNINGS.clear()
    yield sentences
    different = list(dict.fromkeys(" ".join(text.split()) for text in _WARNINGS))
    sentences += [f"llama.cpp warns: {text}" for text in different[:_MOST_WARNINGS]]
    if len(different) > _MOST_WARNINGS:
        sentences.append(f"llama.cpp warns of {len(different) - _MOST_WARNINGS} more")
    _WARNINGS.clear()


def has_amx() -> bool:
    """Whether this llama.cpp would compute on Intel's matrix unit, which must not be.

    As compiled by GCC, it may load a half-written configuration of the tiles, and the process dies at the first
    quantised matrix (llama.cpp issue 20824). That code comes with the buffers for repacked weights, and goes with them.
    """
    return b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info()


def heard(level: int, text: bytes, _data: Any = None) -> None:
    """Take a line of llama.cpp's log."""
    if level == _ERROR_LEVEL:
        _LAST_WORDS.append(text.decode("utf-8", errors="replace").strip())
    if level == _WARN_LEVEL:
        _WARNINGS.append(text.decode("utf-8", errors="replace"))


# llama.cpp keeps a pointer to it: it must live as long as the process.
_LISTENER = llama_cpp.llama_log_callback(heard)
