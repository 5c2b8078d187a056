"""The layers of a model that fit on a made GPU, and what llama.cpp's messages about memory become."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import EngineError, Model, ModelOptions
from pytest_puma.engine.fit import Fit
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native import placement
from pytest_puma.engine.native.placement import fit_here, out_of_memory, with_layers
from pytest_puma.models.layers import ModelLayers
from tests.tiny_gguf import QWEN2, write_gguf


def model(path: Path, **options: object) -> Model:
    return Model(name="q", path=path, options=ModelOptions(**options))  # type: ignore[arg-type]


def fit(model: Model, free: int) -> Fit:
    layers = ModelLayers(dense=(2**27,) * 19, experts=(0,) * 19, kv=(0,) * 19, output=2**27)
    return Fit.on(model, layers, [Gpu("A", free)])


def test_a_file_without_a_readable_header_has_no_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "gpus", lambda: (Gpu("A", 2**31),))
    path = tmp_path / "q.gguf"
    write_gguf(path, QWEN2)
    assert fit_here(model(path)) is not None
    path.write_bytes(b"")
    assert fit_here(model(path)) is None


def test_auto_becomes_the_number_of_layers_that_fit() -> None:
    auto = model(Path("q.gguf"), gpu_layers="auto")
    assert with_layers(auto, fit(auto, 2**31)).options.gpu_layers == 10
    assert with_layers(auto, fit(auto, 2**40)).options.gpu_layers == -1
    assert with_layers(auto, fit(auto, 2**31), 9).options.gpu_layers == 9
    given = model(Path("q.gguf"), gpu_layers=3)
    assert with_layers(given, fit(given, 2**31)) is given


@pytest.mark.parametrize(
    "options", [{"split": "layer"}, {"share": "1:1"}, {"gpu": 0}, {"cpu_moe": "all"}, {"rpc": "a:1"}]
)
def test_without_a_layer_that_fits_no_option_places_layers(options: dict[str, object]) -> None:
    auto = model(Path("q.gguf"), gpu_layers="auto", **options)
    assert with_layers(auto, fit(auto, 1)).options == ModelOptions(gpu_layers=0)


@pytest.mark.parametrize(
    "log",
    [
        "ggml_backend_cuda_buffer_type_alloc_buffer: cudaMalloc failed: out of memory",
        "ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
        "llama_kv_cache: failed to allocate buffer for kv cache",
        "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
        "ggml_vulkan: Device memory allocation of size 1073741824 failed.",
        "ggml_metal_buffer_init: error: failed to allocate buffer, size =  8192.00 MiB",
        "ggml_backend_sycl_buffer_type_alloc_buffer: can't allocate 4385472512 Bytes of memory on device",
    ],
)
@pytest.mark.parametrize(("given", "on_gpu", "layers"), [(-1, 20, 10), (5, 5, 4), (12, 12, 10)])
def test_too_little_memory_is_an_error_with_the_number_of_layers_that_fit(
    log: str, given: int, on_gpu: int, layers: int
) -> None:
    asked = model(Path("q.gguf"), gpu_layers=given)
    error = out_of_memory(EngineError(f"q: llama.cpp cannot load q.gguf (llama.cpp: {log})"), asked, fit(asked, 2**31))
    assert str(error).startswith(
        f"q: the memory of the GPU is too small for {on_gpu} of 20 layers: q needs about 3,328 MB on the GPU (A) with "
        "a cache of 32,768 tokens, where 2,048 MB are free: 10 of 20 layers fit; expected about "
        f"gpu_layers={layers} (auto"
    )
    assert log in str(error)


@pytest.mark.parametrize(
    "log",
    [
        "unknown model architecture: 'x'",
        # The memory of the machine.
        "llama_model_load: error loading model: unable to allocate CPU buffer",
        "failed to allocate Vulkan_Host buffer of size 551880256 graph_reserve: failed to allocate compute buffers",
    ],
)
def test_another_error_stays_as_it_is(log: str) -> None:
    asked = model(Path("q.gguf"))
    error = EngineError(f"q: llama.cpp cannot load q.gguf (llama.cpp: {log})")
    assert out_of_memory(error, asked, fit(asked, 2**31)) is error
    no_gpu = EngineError("q: failed to allocate buffer for kv cache")
    assert out_of_memory(no_gpu, asked, None) is no_gpu
