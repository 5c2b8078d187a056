"""Access to llama-cpp-python: its version, its structures, its log, and a part that crashes.

The binding declares C structures by hand. A library of another version, by `LLAMA_CPP_LIB_PATH` or copied over the
binding's own, may have a field more: then each setting behind it is written to a wrong place, without any error.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Model
from pytest_puma.phrases import one_line, shortened
from pytest_puma.platform.signals import deferred

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
#: Values that mean "from the model", "none" and the like, so that no version has others.
_MODEL = {"split_mode": 1, "main_gpu": 0, "vocab_only": 0, "check_tensors": 0}
_CONTEXT = {
    "n_seq_max": 1,
    "rope_scaling_type": -1,
    "pooling_type": -1,
    "attention_type": -1,
    "yarn_ext_factor": -1.0,
    "type_k": 1,
    "type_v": 1,
    "embeddings": 0,
    "kv_unified": 0,
}
#: Each function that returns a structure, the structure, and fields of a known value.
_STRUCTURES: tuple[tuple[str, type[ctypes.Structure], Mapping[str, float]], ...] = (
    ("llama_model_default_params", llama_cpp.llama_model_params, _MODEL),
    ("llama_context_default_params", llama_cpp.llama_context_params, _CONTEXT),
)
#: Bytes behind the structure, and their content: no number, no switch and no address.
_MARGIN, _PAINT = 256, 0xA5
#: Processors whose functions write a large structure to the address in their first argument.
_WRITES_TO_ARGUMENT = frozenset({"x86_64", "AMD64"})
_ERRORS: deque[str] = deque(maxlen=3)
_WARNINGS: list[str] = []


def prepare() -> None:
    """Keep llama.cpp's log off the terminal, and CUDA graphs off; an `EngineError` if the binding does not fit.

    A replayed CUDA graph can end the process: on an H200 a kernel of cuBLAS met "an illegal instruction". Batches of
    changing sizes gain no time from graphs.
    """
    fields = {name for name, *_ in llama_cpp.llama_context_params._fields_}
    require(_NEEDED, lacking=[name for name in _NEEDED_FIELDS if name not in fields])
    check_layout(llama_cpp.llama_cpp._lib)  # noqa: SLF001 - the binding has no other name for it
    os.environ.setdefault(_NO_CUDA_GRAPHS, "1")
    llama_cpp.llama_log_set(_CALLBACK, ctypes.c_void_p(0))


def require(names: Sequence[str], lacking: Sequence[str] = ()) -> None:
    """Check that the binding has these functions, and that it is `lacking` nothing else, with an `EngineError`."""
    missing = [*(name for name in names if not hasattr(llama_cpp, name)), *lacking]
    if missing:
        msg = (
            f"llama-cpp-python {llama_cpp.__version__} lacks {', '.join(missing)}; "
            "expected a version from 0.3.36 up to, not including, 0.4"
        )
        raise EngineError(msg)


def error_log() -> str:
    """Return llama.cpp's last error messages, and clear them: they must not explain a later failure."""
    # Texts of the file, of any length, may be in them.
    reason = shortened(" ".join(_ERRORS).strip(), _MAX_REASON)
    _ERRORS.clear()
    return f" (llama.cpp: {reason})" if reason else ""


def loaded(model: Model, params: llama_cpp.llama_model_params) -> Any:
    """Return llama.cpp's model of a file; Ctrl-C ends the loading. An `EngineError` if llama.cpp refuses the file."""
    with uninterrupted() as waiting:
        params.progress_callback = llama_cpp.llama_progress_callback(lambda _progress, _data: not waiting)
        pointer = llama_cpp.llama_model_load_from_file(os.fsencode(model.path), params)
    if not pointer:
        msg = (
            f"{model.name}: llama.cpp cannot load {model.path}{error_log()}; expected a whole file of a model that "
            f"llama-cpp-python {llama_cpp.__version__} knows: download it again, or try another version"
        )
        raise EngineError(msg)
    return pointer


#: Lets Ctrl-C wait for the end of calls that write to the log; the value of the block is true if it waits. Python would
#: raise `KeyboardInterrupt` inside our function for the log, where ctypes drops it.
uninterrupted = partial(deferred, limit=None)


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Collect llama.cpp's warnings inside the block, each sentence once, and the number of those beyond the limit."""
    sentences: list[str] = []
    _WARNINGS.clear()
    yield sentences
    different = list(dict.fromkeys(one_line(text, _MAX_REASON) for text in _WARNINGS))
    sentences += [f"llama.cpp warns: {text}" for text in different[:_MAX_WARNINGS]]
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


@cache
def check_layout(library: Any) -> None:
    """Compare the defaults that a library writes with the declarations; an `EngineError` names what does not fit."""
    for function, structure, known in _STRUCTURES:
        content = _returned(library, function, structure)
        if misfit := next(_misfits(content, structure, known), ""):
            msg = (
                f"llama.cpp: {structure.__name__} of {library._name} is not that of "  # noqa: SLF001 - a file's name
                f"llama-cpp-python {llama_cpp.__version__}: {misfit}; expected the library that was built with it: "
                "unset LLAMA_CPP_LIB_PATH, or install the version of llama-cpp-python for this library"
            )
            raise EngineError(msg)


def _returned(library: Any, function: str, structure: type[ctypes.Structure]) -> bytes:
    """The bytes of the structure that a function returns, and the margin behind them where it can be seen."""
    # A function object of its own: that of the binding keeps its types.
    call = library[function]
    if platform.machine() not in _WRITES_TO_ARGUMENT:
        call.restype, call.argtypes = structure, []
        return bytes(call())
    size = ctypes.sizeof(structure) + _MARGIN
    painted = (ctypes.c_ubyte * size)(*[_PAINT] * size)
    call.restype, call.argtypes = None, [ctypes.c_void_p]
    call(ctypes.byref(painted))
    return bytes(painted)


def _misfits(content: bytes, structure: type[ctypes.Structure], known: Mapping[str, float]) -> Iterator[str]:
    """Misfits: bytes behind the structure that were written, and fields whose value they cannot have."""
    size = ctypes.sizeof(structure)
    if any(byte != _PAINT for byte in content[size:]):
        yield f"it has more than {size} bytes"
    values = structure.from_buffer_copy(content)
    for name, kind, *_ in structure._fields_:
        field = getattr(structure, name)
        written = content[field.offset : field.offset + field.size]
        if kind is ctypes.c_bool and written[0] > 1:
            yield f"its switch {name} is {written[0]}"
        if _is_address(kind) and any(written):
            yield f"its address {name} is set"
        if name in known and getattr(values, name) != known[name]:
            yield f"its {name} is {getattr(values, name)}, expected {known[name]}"


def _is_address(kind: Any) -> bool:
    """Whether a field is a pointer or a function; by default none of them is set."""
    function = llama_cpp.llama_progress_callback.__mro__[1]  # ctypes has no public name for the base of functions
    return issubclass(kind, (ctypes.c_void_p, ctypes._Pointer, function))  # noqa: SLF001 - nor for that of pointers
