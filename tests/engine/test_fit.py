"""The number of layers that fit on GPUs: pure arithmetic, as llama.cpp divides layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.fit import Fit, fitting_layers, memory_lines, used
from pytest_puma.engine.machine import Gpu
from pytest_puma.models.layers import ModelLayers
from tests.tiny_gguf import QWEN2, write_gguf

MB = 2**20
ROOM = 512 * MB
#: Four layers of 100 MB and an output of 50 MB.
SIZES = [100 * MB] * 4 + [50 * MB]


def free(*megabytes: float) -> list[int]:
    """Free memory of GPUs beyond the room that each of them keeps."""
    return [round(size * 1.1 * MB) + ROOM + 1 for size in megabytes]


@pytest.mark.parametrize(
    ("megabytes", "options", "layers"),
    [
        ((450,), ModelOptions(), 5),
        ((449,), ModelOptions(), 4),
        ((49,), ModelOptions(), 0),
        ((50,), ModelOptions(), 1),
        # The last place is the output.
        ((300, 150), ModelOptions(share="3:2"), 5),
        ((299, 150), ModelOptions(share="3:2"), 3),
        ((225, 225), ModelOptions(split="row"), 5),
        ((225, 224), ModelOptions(split="row", share="1:1"), 4),
        ((450, 0), ModelOptions(share="1:0"), 5),
    ],
)
def test_as_many_layers_as_each_gpu_has_room_for(
    megabytes: tuple[float, ...], options: ModelOptions, layers: int
) -> None:
    assert fitting_layers(SIZES, free(*megabytes), options) == layers


def test_without_room_for_buffers_nothing_fits() -> None:
    assert fitting_layers(SIZES, [ROOM - 1], ModelOptions()) == 0


def test_the_gpus_of_a_model_are_those_that_it_names_else_that_of_the_process() -> None:
    first, second = Gpu("A", 1), Gpu("B", 2)
    assert used(ModelOptions(), [first, second]) == [first, second]
    assert used(ModelOptions(), [first, second], 1) == [second]
    assert used(ModelOptions(gpu=0), [first, second], 1) == [first]
    assert used(ModelOptions(split="none"), [first, second]) == [first]
    assert used(ModelOptions(split="layer"), [first, second], 1) == [first, second]


LAYERS = ModelLayers(dense=(100 * MB,) * 4, experts=(900 * MB,) * 4, kv=(4096,) * 4, output=50 * MB)


def fit(megabytes: float, **options: object) -> Fit:
    model = Model(name="q", path=Path("q.gguf"), options=ModelOptions(**options))  # type: ignore[arg-type]
    return Fit.on(model, LAYERS, [Gpu("H200", *free(megabytes))])


def test_experts_on_the_cpu_and_a_smaller_cache_make_room() -> None:
    # Each layer: 100 MB, 900 MB of experts, 128 MB of cache.
    assert fit(2400).layers == 3
    assert fit(2400, n_ctx=8192).layers == 3
    assert (fit(2600).layers, fit(2600, cpu_moe="2").layers) == (3, 4)
    assert fit(2400, cpu_moe="all").whole
    assert fit(4562).whole
    assert not fit(4178).whole
    assert fit(4178, n_ctx=8192).whole


def test_the_sentence_names_what_is_needed_and_how_many_layers_fit() -> None:
    assert fit(2400).sentence() == (
        "q needs about 5,530 MB on the GPU (H200) with a cache of 32,768 tokens, where 3,152 MB are free: "
        "3 of 5 layers fit"
    )
    assert fit(9000).sentence().endswith("MB are free")


def test_a_second_attempt_has_a_tenth_fewer_layers() -> None:
    assert fit(2400).fewer() == 2
    assert fit(10).fewer() == 0


def test_what_a_model_needs_is_stated_before_it_is_loaded(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", QWEN2)

    def lines(free: int, **options: object) -> list[str]:
        model = Model(name="tiny", path=path, options=ModelOptions(**options))  # type: ignore[arg-type]
        return memory_lines([model, model], [Gpu("A", free), Gpu("B", free)], 0)

    (roomy,) = lines(2**30)
    assert roomy.startswith("tiny needs about 5")
    assert roomy.endswith(" MB on the GPU (A) with a cache of 32,768 tokens, where 1,024 MB are free")
    (short,) = lines(ROOM)
    assert short.endswith("where 512 MB are free: 0 of 3 layers fit; gpu_layers=auto takes as many as fit")
    (auto,) = lines(ROOM, gpu_layers="auto")
    assert auto.endswith(": 0 of 3 layers fit")
    (both,) = lines(ROOM, split="layer")
    assert "on the GPUs (A, B)" in both
    assert lines(ROOM, gpu_layers=0) == []
