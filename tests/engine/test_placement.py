"""The options of a model's loading on real llama.cpp; what only a GPU shows is computed from a list of GPUs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import closing
from itertools import count, takewhile
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.core import EngineError, Model, ModelOptions
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native import NativeBackend, binding, offloads
from pytest_puma.engine.native.placement import check_gpus, keep_experts, loading_params
from tests.engine.ask import generate, issues, score, timeless
from tests.tiny_gguf import MIXTRAL, QWEN2, Shape

CPU = pytest.mark.skipif(offloads(), reason="there is a GPU here")
ModelFile = Callable[[Shape], Path]


def model(path: Path, **options: object) -> Model:
    return Model(name="q", path=path, options=ModelOptions(**options))  # type: ignore[arg-type]


def answers(model: Model) -> list[object]:
    with closing(Engine(NativeBackend(model, threads=1, digest="5a"))) as engine:
        return [*timeless(engine.run([*(generate(text, 8) for text in issues(6)), score("Issue 1", "Major", "Minor")]))]


@pytest.mark.parametrize("options", [{"mmap": False}, {"mlock": True}, {"mmap": False, "mlock": True}])
def test_the_way_of_loading_changes_no_answer_and_no_signature(model_file: ModelFile, options: dict[str, bool]) -> None:
    path = model_file(QWEN2)
    assert answers(model(path, **options)) == answers(model(path))
    with (
        closing(NativeBackend(model(path), threads=1, digest="5a")) as plain,
        closing(NativeBackend(model(path, **options), threads=1, digest="5a")) as other,
    ):
        assert other.signature == plain.signature


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, llama_cpp.LLAMA_LOAD_MODE_AUTO),
        ({"mmap": False}, llama_cpp.LLAMA_LOAD_MODE_NONE),
        ({"mlock": True}, llama_cpp.LLAMA_LOAD_MODE_MMAP_MLOCK),
        ({"mmap": False, "mlock": True}, llama_cpp.LLAMA_LOAD_MODE_MLOCK),
    ],
)
def test_maps_and_locks_are_one_mode_of_llama_cpp(options: dict[str, bool], mode: int) -> None:
    assert loading_params(model(Path("q.gguf"), **options).options).load_mode == mode


def test_no_layers_on_a_gpu_means_that_no_gpu_computes() -> None:
    assert devices(ModelOptions(gpu_layers=0)) == []
    assert devices(ModelOptions(gpu_layers=1)) is None


def devices(options: ModelOptions) -> list[int] | None:
    """The devices that may compute; None for all."""
    pointer = loading_params(options).devices
    if pointer is None:
        return None
    array = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))
    return list(takewhile(bool, (array[index] for index in count())))


def test_the_log_is_ours_before_llama_cpp_starts_its_devices() -> None:
    llama_cpp.llama_log_set(llama_cpp.llama_log_callback(), ctypes.c_void_p(0))
    offloads()
    assert address(log()) == address(binding._CALLBACK)  # noqa: SLF001


def log() -> object:
    callback = llama_cpp.llama_log_callback()
    llama_cpp.llama_log_get(ctypes.byref(callback), ctypes.byref(ctypes.c_void_p()))
    return callback


def address(function: object) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]


@pytest.mark.parametrize(("ubatch", "tokens", "batch"), [(128, 128, 2048), (1024, 1024, 2048), (4096, 4096, 4096)])
def test_a_pass_computes_the_tokens_that_are_requested(
    model_file: ModelFile, ubatch: int, tokens: int, batch: int
) -> None:
    with closing(NativeBackend(model(model_file(QWEN2), ubatch=ubatch), threads=1, digest="5a")) as backend:
        backend.open(8192)
        assert llama_cpp.llama_n_ubatch(backend._context) == tokens  # noqa: SLF001
        assert backend.batch == batch
        assert backend.signature["ubatch"] == str(ubatch)


def test_a_smaller_pass_gives_the_same_answers_where_no_tie_is_near(model_file: ModelFile) -> None:
    path = model_file(QWEN2)
    assert [str(answer)[:40] for answer in answers(model(path, ubatch=128))] == [
        str(answer)[:40] for answer in answers(model(path))
    ]


def test_a_model_without_these_options_has_the_signature_that_it_had(model_file: ModelFile) -> None:
    with closing(NativeBackend(model(model_file(QWEN2)), threads=1, digest="5a")) as backend:
        assert list(backend.signature) == [
            *("weights_sha256", "llama_cpp_python", "library_sha256", "cpu", "devices", "threads", "gpu", "amx"),
            *("parallel", "gpu_layers", "n_ctx", "chat", "chat_format", "thinking", "reasoning_effort", "strict"),
        ]


@CPU
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"gpu_layers": "auto"}, "gpu_layers=auto has"),
        ({"split": "row"}, "split=row has"),
        ({"gpu": 1, "gpu_layers": 3}, "gpu_layers=3, gpu=1 have"),
        ({"cpu_moe": "all"}, "cpu_moe=all has"),
    ],
)
def test_what_only_a_gpu_can_do_has_no_effect_without_one(
    model_file: ModelFile, options: dict[str, object], what: str
) -> None:
    path = model_file(MIXTRAL)
    with closing(NativeBackend(model(path, **options), threads=1, digest="5a")) as backend:
        (note,) = backend.notes
        assert note.startswith(f"{what} no effect: this llama.cpp is built without a GPU, or finds none; build it")
        named = {"main_gpu" if name == "gpu" else name: value for name, value in options.items()}
        assert {name: backend.signature[name] for name in named} == {
            name: "0" if value == "auto" else str(value) for name, value in named.items()
        }
        assert backend.signature["gpu"] == "False"
    assert answers(model(path, **options)) == answers(model(path))


@pytest.mark.parametrize("layers", [1, 2, 1024])
def test_experts_that_stay_on_the_cpu_give_the_same_numbers(model_file: ModelFile, layers: int) -> None:
    path = model_file(MIXTRAL)
    params = llama_cpp.llama_model_default_params()
    keep_experts(params, layers)
    assert params.tensor_buft_overrides
    pointer = binding.loaded(model(path), params)
    plain = binding.loaded(model(path), llama_cpp.llama_model_default_params())
    # On a GPU, the rest of the model rounds otherwise than its experts.
    assert logits(pointer) == (pytest.approx(logits(plain), abs=0.01) if offloads() else logits(plain))
    for each in pointer, plain:
        llama_cpp.llama_model_free(each)


def logits(pointer: object) -> list[float]:
    """Those after three tokens."""
    context = llama_cpp.llama_init_from_model(pointer, llama_cpp.llama_context_default_params())
    tokens = (llama_cpp.llama_token * 3)(5, 6, 7)
    assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(tokens, 3)) == 0
    row = llama_cpp.llama_get_logits(context)[:200]
    llama_cpp.llama_free(context)
    return list(row)


def test_an_option_that_the_binding_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Params(ctypes.Structure):
        _fields_ = (("n_gpu_layers", ctypes.c_int32), ("use_extra_bufts", ctypes.c_bool))

    monkeypatch.setattr(llama_cpp, "llama_model_default_params", Params)
    with pytest.raises(EngineError, match=r"llama-cpp-python \S+ lacks load_mode; expected a version from"):
        loading_params(ModelOptions(mmap=False))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gpu": 2}, "q: gpu=2, and they are counted from 0; found 2: A, B"),
        ({"share": "1:1:1"}, "q: share=1:1:1 is for 3 GPUs; found 2: A, B"),
    ],
)
def test_gpus_that_are_not_there_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(EngineError) as caught:
        check_gpus(model(Path("q.gguf"), **options), [Gpu("A", 1), Gpu("B", 1)])
    assert str(caught.value) == sentence
