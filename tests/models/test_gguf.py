"""The header of a GGUF file."""

import struct
import time
from dataclasses import replace
from pathlib import Path

import gguf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import ModelError
from pytest_puma.models.gguf import GgufFile, read_gguf
from tests.models.raw_gguf import MODEL, WEIGHT, Value, raw_gguf, refused
from tests.tiny_gguf import LFM2, MAMBA, QWEN2, Shape, write_gguf


def test_the_header_of_a_real_file_is_read(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", MAMBA)
    assert read_gguf(path) == GgufFile(
        architecture="mamba",
        kind="model",
        tokenizer="gpt2",
        context_length=4096,
        kv_slot_bytes=None,
        tensors=len(gguf.GGUFReader(path).tensors),
        parts=1,
        size=path.stat().st_size,
    )


@pytest.mark.parametrize("version", [2, 3])
def test_missing_metadata_stay_empty(tmp_path: Path, version: int) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf(version=version))
    file = read_gguf(path)
    assert (file.kind, file.context_length, file.kv_slot_bytes) == ("model", None, None)


@given(
    pairs=st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1).map("x.".__add__),
        st.one_of(
            st.integers(-(2**31), 2**31 - 1),
            st.floats(width=32),
            st.booleans(),
            st.text(st.characters(codec="utf-8"), min_size=1),
            st.lists(st.text(st.characters(codec="utf-8")), min_size=1),
            st.lists(st.integers(0, 2**31 - 1), min_size=1),
        ),
        max_size=8,
    )
)
def test_any_metadata_that_the_gguf_package_writes_is_skipped(
    tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("pairs") / "q.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in pairs.items():
        writer.add_key_value(key, value, _type(value), _type(value[0]) if isinstance(value, list) else None)
    writer.add_context_length(77)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert read_gguf(path).context_length == 77


def _type(value: object) -> gguf.GGUFValueType:
    return gguf.GGUFValueType.get_type(value)


def test_a_negative_number_of_heads_gives_no_size(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    attention: dict[str, Value] = {"llama.attention.head_count": 2, "llama.attention.head_count_kv": [-8, 1]}
    path.write_bytes(raw_gguf({**MODEL, **attention, "llama.block_count": 2, "llama.embedding_length": 8}))
    assert read_gguf(path).kv_slot_bytes is None


def test_a_text_of_many_megabytes_in_the_header_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**25))
        file.truncate(2**26)
    with pytest.raises(ModelError, match="is invalid at byte 32 "):
        read_gguf(path)


def test_a_tensor_with_an_unknown_type_must_only_begin_inside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf(tensors=[("t", (1 << 40,), 77, 64)], data=64))
    assert read_gguf(path).tensors == 1
    assert "it is cut off" in refused(path, raw_gguf(tensors=[("t", (1,), 77, 64)], data=63))


def test_the_data_begin_at_the_alignment_of_the_file(tmp_path: Path) -> None:
    header = {**MODEL, "general.alignment": 4096}
    path = tmp_path / "q.gguf"
    assert f"end at byte {4096 + 128:,}" in refused(path, raw_gguf(header))
    path.write_bytes(raw_gguf(header, data=4096 + 128))
    assert read_gguf(path).size == len(raw_gguf(header, data=4096 + 128))


def test_the_vocabulary_of_a_large_model_costs_less_than_half_a_second(tmp_path: Path) -> None:
    size = 150_000
    vocabulary: dict[str, Value] = {
        "tokenizer.ggml.tokens": [f"token{number}" for number in range(size)],
        "tokenizer.ggml.merges": [f"to ken{number}" for number in range(size)],
        "tokenizer.ggml.token_type": [1] * size,
    }
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf({**vocabulary, **MODEL}, [WEIGHT]))
    start = time.process_time()
    assert read_gguf(path).tensors == 1
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (QWEN2, 2 * (64 + 64) * 2),
        (replace(QWEN2, layers=3, heads=4, kv_heads=2), 3 * 2 * (32 + 32) * 2),
        (LFM2, 1 * (64 + 64) * 2),
        (MAMBA, None),
    ],
    ids=["a key and a value of 64 in two layers", "two of 32 in three", "in every second layer", "no attention"],
)
def test_the_size_of_a_token_in_the_kv_cache_follows_from_the_header(
    tmp_path: Path, shape: Shape, expected: int | None
) -> None:
    assert read_gguf(write_gguf(tmp_path / "m.gguf", shape)).kv_slot_bytes == expected
