"""A GGUF file, described by its header: read without numpy and without the weights.

    "GGUF", version (uint32), number of tensors (uint64), number of pairs (uint64)
    pairs      key, type, value
    tensors    name, dimensions, type, offset into the data
    data       from the next multiple of `general.alignment`

The format is described in `docs/gguf.md` of https://github.com/ggml-org/ggml.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.core import ModelError
from pytest_puma.models.header import (
    MAX_LAYERS,
    MAX_PAIRS,
    MAX_TENSORS,
    DamagedHeaderError,
    HeaderReader,
    Tensor,
    Value,
)

MAGIC = b"GGUF"
_BEFORE_GGUF = (b"tjgg", b"fmgg", b"lmgg")  # ggjt, ggmf, ggml as little-endian numbers
_ZIP = b"PK\x03\x04"
_LFS_POINTER = b"version https://git-lfs"
_WEB_PAGE = (b"<!doctype", b"<html", b"<?xml")
_SAFETENSORS_HEADER = b'{"'  # after eight bytes with its length
VERSIONS = (2, 3)
_CONVERTER = "llama.cpp's convert_hf_to_gguf.py"
_KV_NUMBER_BYTES = 2  # of a number in llama.cpp's KV cache
_MAX_CONTEXT = (1 << 31) - 1  # llama.cpp's positions are 32-bit numbers with a sign


@dataclass(frozen=True, slots=True)
class Header:
    """The metadata and the tensors of a file of `size` bytes, up to the byte `end`."""

    metadata: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int
    size: int

    @property
    def data(self) -> int:
        """The byte from which the offsets of the tensors count."""
        alignment = self.count("general.alignment") or 32
        return -(-self.end // alignment) * alignment

    def text(self, key: str) -> str:
        """Return a text of the metadata, empty if there is none."""
        value = self.metadata.get(key, "")
        return value if isinstance(value, str) else ""

    def count(self, key: str) -> int | None:
        """Return a number of the metadata that is no negative one, if there is one."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) and value >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFile:
    """Contents of a header. A missing text is empty, a missing `context_length` (in tokens) is `None`.

    `kind` is `model`, `adapter`, `mmproj` ...; `tokenizer` the kind of vocabulary; `tensors` counts those in this file
    of `parts`, `size` its bytes. `kv_slot_bytes` is the size of a token in the KV cache, `None` if the header does not
    specify it. `experts`: their number in each layer, 0 of a model that is no mixture of them.
    """

    architecture: str
    kind: str
    tokenizer: str
    context_length: int | None
    kv_slot_bytes: int | None
    tensors: int
    parts: int
    size: int
    experts: int = 0


def read_gguf(path: Path) -> GgufFile:
    """Read the header of a model; a `ModelError` as from `read_header`, or if its sizes are impossible."""
    header = read_header(path)
    _check_sizes(path, header)
    return _described(header)


def read_header(path: Path, *, converter: str = _CONVERTER) -> Header:
    """Read the header, and check that the file is long enough for its tensors.

    A `ModelError` reports what the file contains instead of a whole GGUF file. `converter`: what makes such a
    file from safetensors.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                msg = f"{path} is empty; expected a GGUF file: copy or download it again"
                raise ModelError(msg)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(path, data, size, converter)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise ModelError(msg) from error


def _read(path: Path, data: mmap.mmap, size: int, converter: str) -> Header:
    if data[:4] != MAGIC:
        msg = f"{path} is no GGUF file: {_foreign_format(data[:512], converter)}"
        raise ModelError(msg)
    reader = HeaderReader(data, position=len(MAGIC))
    try:
        _check_version(path, reader.uint32())
        count, pairs = reader.count(MAX_TENSORS), reader.count(MAX_PAIRS)
        metadata = dict(reader.pair() for _ in range(pairs))
        tensors = tuple(reader.tensor() for _ in range(count))
    except DamagedHeaderError:
        msg = (
            f"{path}: the header is invalid at byte {reader.position:,} of {size:,}: it is cut off or damaged; "
            "download it again"
        )
        raise ModelError(msg) from None
    header = Header(metadata, tensors, reader.position, size)
    needed = header.data + max(tensor.end for tensor in tensors) if tensors else 0
    if needed > size:
        msg = f"{path} has {size:,} bytes, and its tensors end at byte {needed:,}: it is cut off; download it again"
        raise ModelError(msg)
    return header


def _check_version(path: Path, version: int) -> None:
    if version in VERSIONS:
        return
    advice = "convert the model again, or look for a newer file"
    if version > max(VERSIONS):
        # In a big-endian file, the number is in the upper half.
        big_endian = version % (1 << 16) == 0
        advice = "it is big-endian: get a little-endian one" if big_endian else "pytest-puma reads no newer one"
    msg = f"{path} has GGUF version {version}; expected {' or '.join(map(str, VERSIONS))}; {advice}"
    raise ModelError(msg)


def _check_sizes(path: Path, header: Header) -> None:
    architecture = header.text("general.architecture")
    for key, name, most in ("block_count", "layers", MAX_LAYERS), ("context_length", "tokens of context", _MAX_CONTEXT):
        size = header.count(f"{architecture}.{key}")
        if size is not None and not 1 <= size <= most:
            msg = f"{path} claims {size:,} {name}; expected 1 to {most:,}: it is damaged; download it again"
            raise ModelError(msg)


def _described(header: Header) -> GgufFile:
    architecture = header.text("general.architecture")
    return GgufFile(
        architecture=architecture,
        kind=header.text("general.type") or "model",
        tokenizer=header.text("tokenizer.ggml.model"),
        context_length=header.count(f"{architecture}.context_length"),
        kv_slot_bytes=sum(kv_layer_bytes(header) or ()) or None,
        tensors=len(header.tensors),
        parts=header.count("split.count") or 1,
        size=header.size,
        experts=header.count(f"{architecture}.expert_count") or 0,
    )


def kv_layer_bytes(header: Header) -> tuple[int, ...] | None:
    """Return the bytes of a token in the KV cache of each layer, 0 without KV heads; None if they are not specified."""
    architecture = header.text("general.architecture")
    attention = f"{architecture}.attention"
    layers, heads = header.count(f"{architecture}.block_count"), header.count(f"{attention}.head_count")
    width = header.count(f"{architecture}.embedding_length")
    kv_heads = header.metadata.get(f"{attention}.head_count_kv", heads)
    # Latent attention stores something else.
    if not layers or not heads or not width or f"{attention}.kv_lora_rank" in header.metadata:
        return None
    key, value = (header.count(f"{attention}.{part}_length") or width // heads for part in ("key", "value"))
    if isinstance(kv_heads, int):
        kv_heads = (kv_heads,) * layers
    if not isinstance(kv_heads, tuple) or len(kv_heads) != layers or min(kv_heads) < 0:
        return None
    return tuple(number * (key + value) * _KV_NUMBER_BYTES for number in kv_heads)


def _foreign_format(head: bytes, converter: str) -> str:
    """The format that a file's first bytes (some hundred) show, and what to do about it."""
    if head.startswith(_LFS_POINTER):
        return "it is a Git LFS pointer, which only names the file; fetch the file itself with 'git lfs pull'"
    if head.lstrip().lower().startswith(_WEB_PAGE):
        return "it is a web page; use the link that downloads the file, not the one that shows it"
    if head[8:10] == _SAFETENSORS_HEADER:
        return f"it looks like safetensors; convert it with {converter}"
    if head.startswith(_ZIP):
        return "it is a zip archive or a PyTorch checkpoint; unpack it, or convert the model to GGUF"
    if head.startswith(_BEFORE_GGUF):
        return "it has the GGML format from before August 2023; convert the model again, or look for a newer file"
    return f"it begins with {head[:4]!r}, expected {MAGIC!r}; give the path of a GGUF file"
