"""Files that are no GGUF file, or a damaged one: refused with the reason."""

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import ModelError
from pytest_puma.models.gguf import read_gguf
from tests.models.raw_gguf import MODEL, raw_gguf, refused, text

RAW = raw_gguf()


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
            " is no GGUF file: it is a web page; use the link that downloads the file, not the one that shows it",
        ),
        (
            struct.pack("<Q", 40) + b'{"__metadata__":{"format":"pt"}}',
            " is no GGUF file: it looks like safetensors; convert it with llama.cpp's convert_hf_to_gguf.py",
        ),
        (
            b"PK\x03\x04\x00\x00",
            " is no GGUF file: it is a zip archive or a PyTorch checkpoint; unpack it, or convert the model to GGUF",
        ),
        (
            b"tjgg\x03\x00\x00\x00",
            (
                " is no GGUF file: it has the GGML format from before August 2023; "
                "convert the model again, or look for a newer file"
            ),
        ),
        (
            raw_gguf(version=1),
            " has GGUF version 1; expected 2 or 3; convert the model again, or look for a newer file",
        ),
        (raw_gguf(version=4), " has GGUF version 4; expected 2 or 3; pytest-puma reads no newer one"),
        (
            raw_gguf(version=3, order=">", pairs={}, tensors=()),
            " has GGUF version 50331648; expected 2 or 3; it is big-endian: get a little-endian one",
        ),
        (
            b"GGUF\x03\x00",
            ": the header is invalid at byte 4 of 6: it is cut off or damaged; download it again",
        ),
        (
            RAW[:-1],
            f" has {len(RAW) - 1:,} bytes, and its tensors end at byte {len(RAW):,}: it is cut off; download it again",
        ),
    ],
)
def test_the_error_of_a_file_that_is_no_whole_gguf_names_its_format(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
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
    assert sentence.startswith(f"{path}: the header is invalid at byte ")
    assert sentence.endswith("it is cut off or damaged; download it again")


@pytest.mark.parametrize("layers", [0, 1025, 2**32 - 1])
def test_no_layers_and_more_layers_than_any_model_has_are_refused(tmp_path: Path, layers: int) -> None:
    pairs = {**MODEL, "llama.block_count": layers, "llama.attention.head_count": 2, "llama.embedding_length": 8}
    path = tmp_path / "q.gguf"
    assert refused(path, raw_gguf(pairs)) == (
        f"{path} claims {layers:,} layers; expected 1 to 1,024: it is damaged; download it again"
    )


@pytest.mark.parametrize("context", [0, 2**31, 2**32 - 1])
def test_a_context_that_would_fit_no_prompt_or_no_number_is_refused(tmp_path: Path, context: int) -> None:
    path = tmp_path / "q.gguf"
    assert refused(path, raw_gguf({**MODEL, "llama.context_length": context})) == (
        f"{path} claims {context:,} tokens of context; expected 1 to 2,147,483,647: it is damaged; download it again"
    )


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(struct.pack("<QQ", 2**18 + 1, 0), id="tensors"),
        pytest.param(struct.pack("<QQ", 0, 2**16 + 1), id="pairs"),
        pytest.param(struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 8, 2**22 + 1), id="texts"),
    ],
)
def test_more_parts_than_any_model_has_are_refused_although_the_file_is_large_enough(
    tmp_path: Path, header: bytes
) -> None:
    path = tmp_path / "q.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF\x03\x00\x00\x00" + header)
        file.truncate(2**26)
    with pytest.raises(ModelError, match=r"the header is invalid at byte \d+ of 67,108,864: "):
        read_gguf(path)


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


def test_the_error_of_a_file_that_cannot_be_opened_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        read_gguf(tmp_path / "gone.gguf")
    assert str(caught.value) == f"{tmp_path / 'gone.gguf'} cannot be read: No such file or directory"
