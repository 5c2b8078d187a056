"""Tests of the code for GPUs on a real device: that of the installed library, or llvmpipe by `tools/gpu/check.sh`.

Without a GPU these tests are skipped; where PUMA_GPU is `required`, they fail. On NVIDIA, name one, as other tests run
without: `CUDA_VISIBLE_DEVICES=0 pytest tests/gpu`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native import gpus
from pytest_puma.platform.bundled import bundled_folder

#: The variable with the numbers of the Vulkan devices that llama.cpp uses.
VULKAN = "GGML_VK_VISIBLE_DEVICES"
TINY = bundled_folder("models") / "puma-tiny.gguf"


@pytest.fixture(scope="session", autouse=True)
def devices() -> tuple[Gpu, ...]:
    """The GPUs of this process."""
    if found := gpus():
        return found
    reason = "llama.cpp has no GPU here; run on one in software with: tools/gpu/check.sh"
    if os.environ.get("PUMA_GPU") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def two_devices(devices: tuple[Gpu, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that start now have at least two GPUs; Vulkan can use one twice."""
    if len(devices) < 2:
        if VULKAN not in os.environ:
            pytest.skip("there is one GPU here")
        monkeypatch.setenv(VULKAN, "0,0")


def tiny(path: Path = TINY, **options: object) -> Model:
    """The bundled model with these options."""
    return Model(name="puma-tiny", path=path, options=ModelOptions(**options))  # type: ignore[arg-type]
