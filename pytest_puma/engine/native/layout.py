"""Check that the structures of the binding are those of the loaded library.

The binding declares C structures by hand. A library of another version, by `LLAMA_CPP_LIB_PATH` or copied over the
binding's own, may have a field more: then each setting behind it is written to a wrong place, without any error.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator, Mapping
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError

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


def check_layout(library: Any) -> None:
    """Compare the defaults that a library writes with the declarations; an `EngineError` names what does not fit."""
    for function, structure, known in _STRUCTURES:
        content = _returned(library, function, structure)
        misfit = next(_misfits(content, structure, known), None)
        if misfit is not None:
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
    """What does not fit: bytes behind the structure that were written, and fields whose value they cannot have."""
    size = ctypes.sizeof(structure)
    if any(byte != _PAINT for byte in content[size:]):
        yield f"it has more than {size} bytes"
    values = structure.from_buffer_copy(content)
    for name, kind in ((field[0], field[1]) for field in structure._fields_):
        place = getattr(structure, name)
        written = content[place.offset : place.offset + place.size]
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
