"""Importing this module imports llama.cpp, with threads that spin only briefly while they wait for each other.

On Linux, llama.cpp uses GNU's OpenMP library, where a waiting thread spins for milliseconds. Beside another busy
process it spins on the core that the other thread needs, and a run takes many times as long. Threads that sleep at
once cost 5 % on a quiet machine; a short spin costs nothing there (`tools/speed/README.md`).

The library reads its environment once, when it is loaded: the variable is set for that moment and removed afterwards,
so that no later process inherits it.
"""

from __future__ import annotations

import os

_SPINS = "GOMP_SPINCOUNT"
#: A user who sets one of these makes the choice.
_CHOICES = (_SPINS, "OMP_WAIT_POLICY")
#: About 30 microseconds; the library's default is 300,000 spins.
SPINS = 2000


def _import_llama_cpp() -> None:
    chosen = any(name in os.environ for name in _CHOICES)
    if not chosen:
        os.environ[_SPINS] = str(SPINS)
    try:
        import llama_cpp  # noqa: F401
    finally:
        if not chosen:
            del os.environ[_SPINS]


_import_llama_cpp()
