"""The build of llama.cpp that computes, and the processors it computes on: other ones round otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import llama_cpp

from pytest_puma.core import Model
from pytest_puma.engine.native.binding import has_amx
from pytest_puma.engine.native.devices import gpus
from pytest_puma.engine.native.limits import Limits

#: Libraries that llama.cpp computes with; a build may have a variant for each kind of CPU and of GPU.
_NAMES = ("llama", "ggml")
_SUFFIXES = {".so", ".dylib", ".dll"}


def signature_of(model: Model, limits: Limits, *, digest: str, threads: int) -> Mapping[str, str]:
    """Return the signature of a backend for a model whose weights have this digest."""
    options = model.options
    return {
        "weights_sha256": digest,
        "llama_cpp_python": str(llama_cpp.__version__),
        **build_signature(),
        "threads": str(threads),
        "gpu": str(limits.on_gpu),
        "amx": "off" if has_amx() else "none",
        "parallel": str(limits.parallel),
        "gpu_layers": str(options.gpu_layers),
        "n_ctx": str(options.n_ctx),
        "chat": str(options.chat),
        "thinking": str(options.thinking),
        "strict": str(options.strict),
    }


@cache
def build_signature() -> Mapping[str, str]:
    """Return the digest of the libraries, the features of the CPU that they use, and the names of the GPUs."""
    features = llama_cpp.llama_print_system_info().decode("utf-8", errors="replace")
    return {
        "library_sha256": _digest(Path(llama_cpp.__file__).parent / "lib"),
        "cpu": " ".join(features.replace("|", " ").split()),
        "devices": ", ".join(gpu.name for gpu in gpus()),
    }


def _digest(folder: Path) -> str:
    digest = sha256()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix in _SUFFIXES and any(name in path.name for name in _NAMES):
            digest.update(f"{path.name}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
