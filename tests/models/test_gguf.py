import contextlib
import struct
import time
from dataclasses import replace
from pathlib import Path

import gguf
import pytest
from gguf.constants import GGML_QUANT_SIZES, LlamaFileType
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import ModelError
from pytest_puma.models import GgufFile, read_gguf
from pytest_puma.models.ggml import BLOCKS, FILE_TYPES
from tests.models.raw_gguf import MODEL, WEIGHT, Value, raw_gguf, text
from tests.tiny_gguf import LFM2, MAMBA, QWEN2, Shape, write_gguf

RAW = raw_gguf()


def refused(path: Path, content: bytes) -> str:
    """What is said of a file that cannot be read."""
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_gguf(path)
    return str(caught.value)


def test_the_header_of_a_real_file_is_read(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", MAMBA)
    assert read_gguf(path) == GgufFile(
        architecture="mamba",
        name="tiny-mamba",
        kind="model",
        file_type="",
        tokenizer="gpt2",
        chat_template=True,
        context_length=4096,
        kv_slot_bytes=None,
        tensors=len(gguf.GGUFReader(path).tensors),
        parts=1,
        size=path.stat().st_size,
    )


@pytest.mark.parametrize("version", [2, 3])
def test_what_a_header_leaves_open_stays_open(tmp_path: Path, version: int) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf(version=version))
    found = read_gguf(path)
    assert (found.name, found.file_type, found.context_length, found.chat_template) == ("", "", None, False)


@pytest.mark.parametrize(("number", "name"), [(15, "Q4_K_M"), (1024 + 15, "Q4_K_M"), (999, "999")])
def test_the_quantisation_has_a_name(tmp_path: Path, number: int, name: str) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf({**MODEL, "general.file_type": number}))
    assert read_gguf(path).file_type == name


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
def test_any_metadata_that_the_gguf_package_writes_is_stepped_over(
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


def test_the_sizes_of_the_tensor_types_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): size for kind, size in GGML_QUANT_SIZES.items() if kind in BLOCKS}
    assert theirs == {kind: size for kind, size in BLOCKS.items() if kind in theirs}
    assert len(theirs) > 30


def test_the_names_of_the_quantisations_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in LlamaFileType}
    known = {kind: name for kind, name in FILE_TYPES.items() if kind in theirs}
    assert known == {kind: name for kind, name in theirs.items() if kind in known}
    assert len(known) > 30


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", " is empty; expected a GGUF file: copy or download it again"),
        (b"GG", " is no GGUF file: it begins with b'GG', expected b'GGUF'; give the path of a GGUF file"),
        (
            b"issue_key,title\n",
            " is no GGUF file: it begins with b'issu', expected b'GGUF'; give the path of a GGUF file",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 2104932768\n",
            (
                " is no GGUF file: it is a Git LFS pointer, which only names the file; "
                "fetch the file itself with 'git lfs pull'"
            ),
        ),
        (
            b"\n<!DOCTYPE html><html>",
            " is no GGUF file: it is a web page; the link for a download is another than the one to look at a file",
        ),
        (
            struct.pack("<Q", 40) + b'{"__metadata__":{"format":"pt"}}',
            " is no GGUF file: it looks like safetensors; convert the model with llama.cpp's convert_hf_to_gguf.py",
        ),
        (
            b"PK\x03\x04\x00\x00",
            " is no GGUF file: it is a zip archive or a PyTorch checkpoint; unpack it, or convert the model to GGUF",
        ),
        (
            b"tjgg\x03\x00\x00\x00",
            (
                " is no GGUF file: it has the GGML format of before August 2023; "
                "convert the model again, or look for a newer file"
            ),
        ),
        (
            raw_gguf(version=1),
            " has GGUF version 1; expected 2 or 3; convert the model again, or look for a newer file",
        ),
        (raw_gguf(version=4), " has GGUF version 4; expected 2 or 3; pytest-puma knows no newer one"),
        (
            raw_gguf(version=3, order=">", pairs={}, tensors=()),
            " has GGUF version 50331648; expected 2 or 3; it is big-endian: get a little-endian one",
        ),
        (
            b"GGUF\x03\x00",
            ": the header makes no sense at byte 4 of 6: it is cut off or damaged; download it again",
        ),
        (
            RAW[:-1],
            f" has {len(RAW) - 1:,} bytes, and its tensors end at byte {len(RAW):,}: it is cut off; download it again",
        ),
    ],
)
def test_a_file_that_is_no_whole_gguf_is_told_what_it_is(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "q.gguf"
    assert refused(path, content) == f"{path}{sentence}"


@pytest.mark.parametrize(
    "damage",
    [
        struct.pack("<QQ", 0, 1) + struct.pack("<Q", 2**63),  # a key of 8 exabytes
        struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<I", 13),  # an unknown type of value
        struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 9, 1),  # an array of arrays
        struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 10, 2**62),  # an array beyond the end
        struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQQ", 9, 8, 2, 2**64 - 1),  # a text beyond the end
        struct.pack("<QQ", 0, 2**63),  # more pairs than bytes
        struct.pack("<QQ", 2**63, 0),  # more tensors than bytes
        struct.pack("<QQ", 1, 0) + text("t") + struct.pack("<I", 5) + bytes(60),  # five dimensions
    ],
)
def test_a_damaged_header_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "q.gguf"
    sentence = refused(path, b"GGUF\x03\x00\x00\x00" + damage)
    assert sentence.startswith(f"{path}: the header makes no sense at byte ")
    assert sentence.endswith("it is cut off or damaged; download it again")


@pytest.mark.parametrize("layers", [1025, 2**32 - 1])
def test_more_layers_than_any_model_has_are_refused(tmp_path: Path, layers: int) -> None:
    pairs = {**MODEL, "llama.block_count": layers, "llama.attention.head_count": 2, "llama.embedding_length": 8}
    path = tmp_path / "q.gguf"
    assert refused(path, raw_gguf(pairs)) == (
        f"{path} claims {layers:,} layers; expected at most 1,024: it is damaged; download it again"
    )


def test_a_number_of_heads_below_zero_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    attention: dict[str, Value] = {"llama.attention.head_count": 2, "llama.attention.head_count_kv": [-8, 1]}
    path.write_bytes(raw_gguf({**MODEL, **attention, "llama.block_count": 2, "llama.embedding_length": 8}))
    assert read_gguf(path).kv_slot_bytes is None


def test_a_text_of_many_megabytes_in_the_header_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**25))
        file.truncate(2**26)
    with pytest.raises(ModelError, match="makes no sense at byte 32 "):
        read_gguf(path)


def test_a_tensor_of_an_unknown_type_must_only_begin_inside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "q.gguf"
    path.write_bytes(raw_gguf(tensors=[("t", (1 << 40,), 77, 64)], data=64))
    assert read_gguf(path).tensors == 1
    assert "it is cut off" in refused(path, raw_gguf(tensors=[("t", (1,), 77, 64)], data=63))


def test_the_data_begin_where_the_alignment_of_the_file_says(tmp_path: Path) -> None:
    header = {**MODEL, "general.alignment": 4096}
    path = tmp_path / "q.gguf"
    assert f"end at byte {4096 + 128:,}" in refused(path, raw_gguf(header))
    path.write_bytes(raw_gguf(header, data=4096 + 128))
    assert read_gguf(path).size == len(raw_gguf(header, data=4096 + 128))


@given(st.integers(0, len(RAW) - 1))
def test_a_file_cut_off_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "q.gguf"
    assert refused(path, RAW[:length])


@given(st.integers(4, len(RAW) - 129), st.integers(0, 255))
def test_a_file_with_a_wrong_byte_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, position: int, byte: int
) -> None:
    path = tmp_path_factory.mktemp("wrong") / "q.gguf"
    path.write_bytes(RAW[:position] + bytes([byte]) + RAW[position + 1 :])
    with contextlib.suppress(ModelError):
        assert read_gguf(path).size == len(RAW)


def test_a_file_that_cannot_be_opened_is_told_why(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        read_gguf(tmp_path / "gone.gguf")
    assert str(caught.value) == f"{tmp_path / 'gone.gguf'} cannot be read: No such file or directory"


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
def test_what_attention_keeps_of_a_token_follows_from_the_header(
    tmp_path: Path, shape: Shape, expected: int | None
) -> None:
    assert read_gguf(write_gguf(tmp_path / "m.gguf", shape)).kv_slot_bytes == expected
