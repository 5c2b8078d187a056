"""The GPUs of this machine, for notes and numbers of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_puma.engine.layout import Gpu


def found_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs; none with a llama.cpp that cannot be loaded, which the first item of the run reports."""
    from pytest_puma.core import EngineError

    try:
        from pytest_puma.engine.native import gpus

        return gpus()
    except EngineError:
        return ()
