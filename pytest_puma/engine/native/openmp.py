"""Importing this module imports llama.cpp, with threads that spin only briefly while they wait for each other.

GNU's OpenMP library, which llama.cpp computes with on Linux, lets a waiting thread spin for milliseconds. Beside
another busy process it then spins on the core that the other thread needs, and a run takes many times as long. Threads
that sleep at once cost 5 % on a quiet machine; a short spin costs nothing there (`tools/speed/README.md`).

The library reads its environment once, when it is loaded: the setting must stand there at that moment, and is taken
away behind it, so that no process started later inherits it.
"""

from __future__ import annotations

import os

_SPINS = "GOMP_SPINCOUNT"
#: A user who has set one of these has made the choice.
_CHOICES = (_SPINS, "OMP_WAIT_POLICY")
#: Some 30 microseconds; the library's own choice is 300,000.
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
