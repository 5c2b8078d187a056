"""llama.cpp in this process: the only package that imports `llama_cpp`.

Written for llama-cpp-python 0.3.36 up to, not including, 0.4; the functions it needs are checked at load. Calls that
would abort the process (too many tokens or outputs in a batch, an unknown sequence, a token that a grammar does not
allow) are refused here first.
"""

from pytest_puma.engine.native import openmp  # noqa: F401 - before any other module imports llama_cpp

# isort: split
from pytest_puma.engine.native.backend import NativeBackend
from pytest_puma.engine.native.build import gpus, offloads
from pytest_puma.engine.native.made_weights import with_weights
from pytest_puma.engine.native.opening import opened
from pytest_puma.engine.native.smoke_test import smoke_test
from pytest_puma.engine.native.text import DryBackend

__all__ = ["DryBackend", "NativeBackend", "gpus", "offloads", "opened", "smoke_test", "with_weights"]
