"""The build of llama.cpp that computes, and the processors it computes on: other ones round otherwise.

llama-cpp-python has no functions for devices, so the functions of its library are called as ggml-backend.h declares
them.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llama_cpp

from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native.binding import prepare
from pytest_puma.engine.native.openmp import LIBRARY

#: Libraries that llama.cpp computes with; a build may have a variant for each kind of CPU and of GPU.
_NAMES = ("llama", "ggml")
_SUFFIXES = {".so", ".dylib", ".dll"}
#: The files that this process has mapped, on Linux, and those of them that are libraries of llama.cpp.
_MAPS = Path("/proc/self/maps")
_MAPPED = re.compile(r"/.*/lib(?:llama|ggml)[^/]*\.so[^/]*$", re.MULTILINE)
#: Parts of llama.cpp that no Python package loads: a lean build is made without them.
_PARTS = ("mtmd", "llama-common")
#: `GGML_BACKEND_DEVICE_TYPE_GPU`, and that of integrated graphics, which share the host's memory.
_GPU, _INTEGRATED = 1, 2


@cache
def build_signature() -> Mapping[str, str]:
    """Return the digest of the libraries, the features of the CPU that they use, and the names of the GPUs."""
    features = llama_cpp.llama_print_system_info().decode("utf-8", errors="replace")
    return {
        "library_sha256": library_digest(),
        "cpu": " ".join(features.replace("|", " ").split()),
        "devices": ", ".join(gpu.name for gpu in gpus()),
    }


def build_id() -> str:
    """Return the version of the binding and the beginning of the digest of its libraries: `0.3.36 db51d59d`."""
    return f"{llama_cpp.__version__} {library_digest()[:8]}"


@cache
def library_digest() -> str:
    """Return the digest of the libraries in the folder of the loaded one, and of those that came from elsewhere."""
    digest = sha256()
    beside = (path for path in sorted(LIBRARY.parent.iterdir()) if path.suffix in _SUFFIXES)
    libraries = (path for path in beside if any(name in path.name for name in _NAMES))
    for path in [*libraries, *_from_elsewhere(LIBRARY.parent)]:
        digest.update(f"{path.name}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_lean() -> bool:
    """Whether the build has only the parts of llama.cpp that a benchmark loads."""
    return not any(part in path.name for path in LIBRARY.parent.iterdir() for part in _PARTS)


def gpus() -> tuple[Gpu, ...]:
    """Return the GPUs with their own memory, in llama.cpp's order."""
    return tuple(
        Gpu(
            name=call("ggml_backend_dev_description", ctypes.c_char_p, ctypes.c_void_p(device)).decode(
                errors="replace"
            ),
            free=memory(device)[0],
        )
        for device in gpu_devices()
    )


def gpu_devices() -> tuple[int, ...]:
    """Return llama.cpp's pointers to the GPUs with their own memory."""
    if not offloads():
        return ()
    if not hasattr(library(), "ggml_backend_dev_count"):
        # A library that does not export these functions (Windows): one process uses all devices.
        return ()
    return tuple(
        device
        for number in range(call("ggml_backend_dev_count", ctypes.c_size_t))
        if (device := call("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t(number)))
        and call("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p(device)) == _GPU
    )


def offloads() -> bool:
    """Whether this build of llama.cpp supports GPUs and finds one."""
    # The first question starts the devices, which write to the log.
    prepare()
    if not llama_cpp.llama_supports_gpu_offload():
        return False
    # With RPC, llama.cpp supports it without any GPU.
    has_types = hasattr(library(), "ggml_backend_dev_by_type")
    return not has_types or any(
        call("ggml_backend_dev_by_type", ctypes.c_void_p, ctypes.c_int(kind)) for kind in (_GPU, _INTEGRATED)
    )


def library() -> Any:
    """Return llama.cpp's library, with those that it is linked to."""
    return llama_cpp.llama_cpp._lib  # noqa: SLF001 - the binding has no other name for it


def call(name: str, result: Any, *arguments: Any) -> Any:
    """Call a function of the library that returns a `result`, a type of ctypes."""
    function = getattr(library(), name)
    function.restype = result
    return function(*arguments)


def memory(device: int) -> tuple[int, int]:
    """Return the free and the total bytes of a device."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("ggml_backend_dev_memory", None, ctypes.c_void_p(device), ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def _from_elsewhere(folder: Path) -> list[Path]:
    """The loaded libraries outside the folder: `LD_LIBRARY_PATH` comes before it."""
    if sys.platform != "linux":
        return []
    paths = set(map(Path, _MAPPED.findall(_MAPS.read_text(encoding="utf-8", errors="replace"))))
    return sorted(path for path in paths if path.parent != folder and path.is_file())
