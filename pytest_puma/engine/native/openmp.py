"""Importing this module imports llama.cpp, with threads that spin only briefly while they wait for each other.

On Linux, llama.cpp uses GNU's OpenMP library, where a waiting thread spins for milliseconds. Beside another busy
process it spins on the core that the other thread needs, and a run takes many times as long. Threads that sleep at
once cost 5 % on a quiet machine; a short spin costs nothing there (`tools/speed/README.md`).

The library reads its environment once, when it is loaded: the variable is set for that moment and removed afterwards,
so that no later process inherits it.
"""

from __future__ import annotations

import os
from pathlib import Path

from pytest_puma.core import EngineError
from pytest_puma.phrases import described

_SPINS = "GOMP_SPINCOUNT"
#: A user who sets one of these makes the choice.
_CHOICES = (_SPINS, "OMP_WAIT_POLICY")
#: About 30 microseconds; the library's default is 300,000 spins.
SPINS = 2000
#: llama-cpp-python loads the library of this folder in place of its own.
_OVERRIDE = "LLAMA_CPP_LIB_PATH"


def _import_llama_cpp() -> Path:
    """Import the binding; return the path of the library that it loaded. An `EngineError` tells why it cannot."""
    chosen = any(name in os.environ for name in _CHOICES)
    if not chosen:
        os.environ[_SPINS] = str(SPINS)
    try:
        import llama_cpp
    except Exception as error:
        # A runtime of CUDA that is missing, a library for another glibc, one without a function that the binding has.
        folder = os.environ.get(_OVERRIDE)
        origin = f" from {_OVERRIDE}={folder}" if folder is not None else ""
        remedy = f"unset {_OVERRIDE}, or " if folder is not None else ""
        msg = (
            f"llama.cpp cannot be loaded{origin}: {described(error)}; expected the library of "
            f"llama-cpp-python for this machine: {remedy}ask pytest-puma doctor how to install it"
        )
        raise EngineError(msg) from error
    finally:
        if not chosen:
            del os.environ[_SPINS]
    # The path may be relative to the current folder; behind a link, the other libraries lie beside its target.
    return Path(llama_cpp.llama_cpp._lib._name).resolve()  # noqa: SLF001 - the binding has no other name for it


LIBRARY = _import_llama_cpp()
