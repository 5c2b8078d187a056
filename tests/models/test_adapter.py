"""The header of a LoRA adapter, and the models that it fits."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pytest_puma.core import Model, ModelError
from pytest_puma.models.adapter import read_adapter
from pytest_puma.models.base import BaseModel
from pytest_puma.platform.bundled import bundled_folder
from tests.models.raw_gguf import Tensor, Value, raw_gguf
from tests.tiny_controls import MATRICES, WIDTH, write_lora

TINY = BaseModel.of(Model(name="q", path=bundled_folder("models") / "puma-tiny.gguf"))
EMBEDDING = {"token_embd.weight": (4096, WIDTH)}  # A and B have changed places


def test_an_adapter_of_the_model_fits(tmp_path: Path) -> None:
    path = write_lora(tmp_path / "a.gguf")
    adapter = read_adapter(path)
    assert (adapter.architecture, adapter.rank, adapter.alpha) == ("qwen2", 2, 4.0)
    assert adapter.pairs == dict.fromkeys(MATRICES, ((WIDTH, 2), (2, WIDTH)))
    adapter.check_fits(TINY)
    assert path.stat().st_size < 10_000


def test_the_base_model_is_described_by_its_header() -> None:
    assert (TINY.architecture, TINY.layers, TINY.width, TINY.steered) == ("qwen2", 3, WIDTH, "layers 1 to 2")
    assert TINY.shapes["blk.2.ffn_down.weight"] == (512, WIDTH)


def test_the_tensors_of_a_split_model_are_those_of_all_parts(tmp_path: Path) -> None:
    header: dict[str, Value] = {"general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 8}
    (tmp_path / "q-00001-of-00002.gguf").write_bytes(raw_gguf(header, [("token_embd.weight", (8, 4), 0, 0)]))
    (tmp_path / "q-00002-of-00002.gguf").write_bytes(raw_gguf({}, [("output.weight", (8, 4), 0, 0)]))
    base = BaseModel.of(Model(name="q", path=tmp_path / "q-00001-of-00002.gguf"))
    assert (base.layers, base.width, sorted(base.shapes)) == (2, 8, ["output.weight", "token_embd.weight"])


@pytest.mark.parametrize(
    ("matrices", "base", "reason"),
    [
        (MATRICES, replace(TINY, architecture="llama"), "a.gguf is a LoRA for qwen2; q is llama"),
        (
            {"blk.3.attn_q.weight": (192, 192), "output.weight": (192, 4096)},
            TINY,
            "a.gguf changes blk.3.attn_q.weight, output.weight, which q does not have: it was made for another model",
        ),
        (
            {"blk.0.ffn_down.weight": (256, 192)},
            TINY,
            "a.gguf changes blk.0.ffn_down.weight of 256 x 192 numbers, q has 512 x 192: it was made for another model",
        ),
        (
            EMBEDDING,
            TINY,
            (
                "a.gguf changes token_embd.weight, which is the output matrix of q too: llama.cpp cannot apply it; "
                "train an adapter without the embedding"
            ),
        ),
    ],
    ids=["architecture", "tensors", "shape", "tied embeddings"],
)
def test_an_adapter_of_another_model_is_refused(
    tmp_path: Path, matrices: Mapping[str, tuple[int, int]], base: BaseModel, reason: str
) -> None:
    path = tmp_path / "a.gguf"
    if matrices is EMBEDDING:
        path.write_bytes(embedding())
    else:
        write_lora(path, matrices)
    with pytest.raises(ModelError) as error:
        read_adapter(path).check_fits(base)
    assert str(error.value) == reason


def embedding() -> bytes:
    """An adapter of the embedding: A has a row for each token, B one for each channel."""
    tensors: list[Tensor] = [
        ("token_embd.weight.lora_a", (2, 4096), 0, 0),
        ("token_embd.weight.lora_b", (2, WIDTH), 0, 2 * 4096 * 4),
    ]
    return raw_gguf({**LORA, "general.architecture": "qwen2"}, tensors, data=(4096 + WIDTH) * 8)


LORA: Mapping[str, Value] = {"general.architecture": "llama", "general.type": "adapter", "adapter.type": "lora"}
PAIR: list[Tensor] = [("w.lora_a", (4, 2), 0, 0), ("w.lora_b", (2, 4), 0, 32)]


def test_an_adapter_of_the_embedding_fits_a_model_with_an_output_matrix(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(embedding())
    read_adapter(path).check_fits(replace(TINY, shapes={**TINY.shapes, "output.weight": (WIDTH, 4096)}))


def test_an_adapter_of_experts_fits(tmp_path: Path) -> None:
    base = replace(TINY, architecture="llama", shapes={"blk.0.ffn_up_exps.weight": (128, 256, 4)})
    tensors: list[Tensor] = [
        ("blk.0.ffn_up_exps.weight.lora_a", (128, 2, 4), 0, 0),
        ("blk.0.ffn_up_exps.weight.lora_b", (2, 256, 4), 0, 4096),
    ]
    path = tmp_path / "a.gguf"
    path.write_bytes(raw_gguf(LORA, tensors, data=4096 + 8192))
    adapter = read_adapter(path)
    assert adapter.alpha == 0.0
    adapter.check_fits(base)


@pytest.mark.parametrize(
    ("header", "tensors", "reason"),
    [
        ({"general.architecture": "llama"}, PAIR, "is a file of the kind 'model', and no LoRA adapter"),
        ({"general.architecture": "controlvector"}, PAIR, "is a control vector, and no LoRA adapter"),
        ({**LORA, "adapter.type": "dora"}, PAIR, "is an adapter of the type 'dora', and no LoRA adapter"),
        ({**LORA, "adapter.lora.alpha": 4}, PAIR, "has 4 as adapter.lora.alpha; expected a finite number"),
        (LORA, [], "has no tensors of a LoRA"),
        (LORA, [("w", (4, 2), 0, 0)], "has a tensor 'w'; expected names that end with .lora_a or .lora_b"),
        (LORA, PAIR[:1], "has matrices of the shapes (4, 2) and () for w; expected two of one rank"),
        (LORA, [PAIR[0], ("w.lora_b", (3, 4), 0, 32)], "of the shapes (4, 2) and (3, 4) for w; expected two of one"),
        (LORA, [PAIR[0], ("w.lora_b", (2, 4, 2), 0, 32)], "of the shapes (4, 2) and (2, 4, 2) for w; expected two"),
        (LORA, [("w.lora_a", (4, 0), 0, 0), ("w.lora_b", (0, 4), 0, 0)], "shapes (4, 0) and (0, 4) for w; expected"),
        (LORA, [PAIR[0], ("w.lora_b", (2, 4), 26, 32)], "has w.lora_b in the type 26; expected F32, F16, BF16 or Q8_0"),
    ],
)
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, header: Mapping[str, Value], tensors: list[Tensor], reason: str
) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(raw_gguf(header, tensors))
    with pytest.raises(ModelError) as error:
        read_adapter(path)
    assert str(path) in str(error.value)
    assert reason in str(error.value)


def test_an_alora_is_refused(tmp_path: Path) -> None:
    path = write_lora(tmp_path / "a.gguf", invocation=[5, 6])
    with pytest.raises(ModelError) as error:
        read_adapter(path)
    assert str(error.value) == (
        f"{path} is an aLoRA: it acts from its invocation tokens on, which a shared batch cannot do"
    )


def test_safetensors_are_refused_with_the_program_that_converts_them(tmp_path: Path) -> None:
    path = tmp_path / "adapter_model.safetensors"
    path.write_bytes(struct.pack("<Q", 40) + b'{"__metadata__":{"format":"pt"}}')
    with pytest.raises(ModelError, match=r"it looks like safetensors; convert it with llama\.cpp's convert_lora_to_"):
        read_adapter(path)


def test_vectors_of_norms_are_left_out_as_in_llama_cpp(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(raw_gguf(LORA, [*PAIR, ("blk.0.attn_norm.weight", (4,), 0, 64)]))
    assert list(read_adapter(path).pairs) == ["w"]


@pytest.mark.parametrize(
    ("kind", "size", "code"),
    [(0, 4, "<f"), (1, 2, "<e"), (30, 2, "bf16"), (8, 34, "<e")],
    ids=["F32", "F16", "BF16", "Q8_0"],
)
def test_a_value_that_is_no_finite_number_is_refused(tmp_path: Path, kind: int, size: int, code: str) -> None:
    path = tmp_path / "a.gguf"
    tensors: list[Tensor] = [("w.lora_a", (32, 2), kind, 0), ("w.lora_b", (2, 1), 0, 256)]

    def write(value: float) -> None:
        """In the last number, or as the scale of the last block."""
        number = struct.pack("<f", value)[2:] if code == "bf16" else struct.pack(code, value)
        length = 2 * (1 if kind == 8 else 32) * size
        data = bytes(length - size) + number + bytes(size - len(number))
        path.write_bytes(raw_gguf(LORA, tensors, data=0) + data + bytes(256 - len(data)) + bytes(8))

    write(-3.5)
    assert read_adapter(path).rank == 2
    for value in math.nan, math.inf:
        write(value)
        with pytest.raises(ModelError, match=r"has a value in w\.lora_a that is not a finite number"):
            read_adapter(path)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    path = write_lora(tmp_path / "a.gguf")
    content, refused = path.read_bytes(), 0
    header = len(content) - 6 * 2 * WIDTH * 4
    for seed in range(200):
        random = Random(seed)  # noqa: S311 - no secret
        damaged = bytearray(content)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(header)] = random.choice((0, 1, 255, random.randrange(256)))
        path.write_bytes(damaged[: random.choice((len(content), random.randrange(len(content))))])
        with suppress(ModelError):
            read_adapter(path).check_fits(TINY)
            continue
        refused += 1
    assert refused > 100
