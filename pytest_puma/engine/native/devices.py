"""The GPUs that llama.cpp detects.

llama-cpp-python has no functions for devices, so the functions of its library are called as ggml-backend.h declares
them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llama_cpp

from pytest_puma.core import ModelOptions
from pytest_puma.engine.layout import Gpu
from pytest_puma.engine.native.binding import prepare
from pytest_puma.platform.installation import install

#: `GGML_BACKEND_DEVICE_TYPE_GPU`; integrated graphics are another type, and share the host's memory.
_GPU = 1


def gpus() -> tuple[Gpu, ...]:
    """Return the GPUs with their own memory, in llama.cpp's order."""
    if not offloads():
        return ()
    prepare()
    library: Any = llama_cpp.llama_cpp._lib  # noqa: SLF001 - the binding has no other name for it
    if not hasattr(library, "ggml_backend_dev_count"):
        # A library that does not export these functions (Windows): one process uses all devices.
        return ()
    return tuple(
        _gpu(library, device)
        for number in range(_call(library, "ggml_backend_dev_count", ctypes.c_size_t))
        if (device := _call(library, "ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t(number)))
        and _call(library, "ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p(device)) == _GPU
    )


def offloads() -> bool:
    """Whether this build of llama.cpp supports GPUs and finds one."""
    return bool(llama_cpp.llama_supports_gpu_offload())


def useless_layers(options: ModelOptions) -> tuple[str, ...]:
    """Return a warning if layers are requested on a GPU and there is none."""
    if options.gpu_layers <= 0 or offloads():
        return ()
    sentence = (
        f"gpu_layers={options.gpu_layers} has no effect: this llama.cpp is built without a GPU, or finds none; build "
        f"it for one, as in CMAKE_ARGS=-DGGML_CUDA=on {install('--force-reinstall --no-cache-dir llama-cpp-python')}"
    )
    return (sentence,)


def _gpu(library: Any, device: int) -> Gpu:
    name = _call(library, "ggml_backend_dev_description", ctypes.c_char_p, ctypes.c_void_p(device))
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    _call(library, "ggml_backend_dev_memory", None, ctypes.c_void_p(device), ctypes.byref(free), ctypes.byref(total))
    return Gpu(name=name.decode(errors="replace"), free=free.value)


def _call(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype = result
    return function(*arguments)
