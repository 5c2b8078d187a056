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
from pytest_puma.models.header import MAX_LAYERS, MAX_PAIRS, MAX_TENSORS, DamagedHeaderError, HeaderReader, Value

MAGIC = b"GGUF"
_BEFORE_GGUF = (b"tjgg", b"fmgg", b"lmgg")  # ggjt, ggmf, ggml as little-endian numbers
_ZIP = b"PK\x03\x04"
_LFS_POINTER = b"version https://git-lfs"
_WEB_PAGE = (b"<!doctype", b"<html", b"<?xml")
_SAFETENSORS_HEADER = b'{"'  # after eight bytes with its length
VERSIONS = (2, 3)
_KV_NUMBER_BYTES = 2  # of a number in llama.cpp's KV cache
_MAX_CONTEXT = (1 << 31) - 1  # llama.cpp's positions are 32-bit numbers with a sign


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFile:
    """Contents of a header. A missing text is empty, a missing `context_length` (in tokens) is `None`.

    `kind` is `model`, `adapter`, `mmproj` ...; `tokenizer` the kind of vocabulary; `tensors` counts those in this file
    of `parts`, `size` its bytes. `kv_slot_bytes` is the size of a token in the KV cache, `None` if the header does not
    specify it.
    """

    architecture: str
    kind: str
    tokenizer: str
    context_length: int | None
    kv_slot_bytes: int | None
    tensors: int
    parts: int
    size: int


def read_gguf(path: Path) -> GgufFile:
    """Read the header, and check that the file is long enough for its tensors.

    A `ModelError` reports what the file contains instead of a whole GGUF file.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                msg = f"{path} is empty; expected a GGUF file: copy or download it again"
                raise ModelError(msg)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(path, data, size)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise ModelError(msg) from error


def _read(path: Path, data: mmap.mmap, size: int) -> GgufFile:
    if data[:4] != MAGIC:
        msg = f"{path} is no GGUF file: {_foreign_format(data[:512])}"
        raise ModelError(msg)
    reader = HeaderReader(data, position=len(MAGIC))
    try:
        _check_version(path, reader.uint32())
        tensors, pairs = reader.count(MAX_TENSORS), reader.count(MAX_PAIRS)
        metadata = dict(reader.pair() for _ in range(pairs))
        needed = max((reader.tensor_end() for _ in range(tensors)), default=0)
    except DamagedHeaderError:
        msg = (
            f"{path}: the header is invalid at byte {reader.position:,} of {size:,}: it is cut off or damaged; "
            "download it again"
        )
        raise ModelError(msg) from None
    _check_sizes(path, metadata)
    alignment = _count(metadata, "general.alignment") or 32
    needed += -(-reader.position // alignment) * alignment if tensors else 0
    if needed > size:
        msg = f"{path} has {size:,} bytes, and its tensors end at byte {needed:,}: it is cut off; download it again"
        raise ModelError(msg)
    return _described(metadata, tensors=tensors, size=size)


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


def _check_sizes(path: Path, metadata: Mapping[str, Value]) -> None:
    architecture = _text(metadata, "general.architecture")
    for key, name, most in ("block_count", "layers", MAX_LAYERS), ("context_length", "tokens of context", _MAX_CONTEXT):
        size = _count(metadata, f"{architecture}.{key}")
        if size is not None and not 1 <= size <= most:
            msg = f"{path} claims {size:,} {name}; expected 1 to {most:,}: it is damaged; download it again"
            raise ModelError(msg)


def _described(metadata: Mapping[str, Value], *, tensors: int, size: int) -> GgufFile:
    architecture = _text(metadata, "general.architecture")
    return GgufFile(
        architecture=architecture,
        kind=_text(metadata, "general.type") or "model",
        tokenizer=_text(metadata, "tokenizer.ggml.model"),
        context_length=_count(metadata, f"{architecture}.context_length"),
        kv_slot_bytes=_kv_slot_bytes(metadata, architecture),
        tensors=tensors,
        parts=_count(metadata, "split.count") or 1,
        size=size,
    )


def _kv_slot_bytes(metadata: Mapping[str, Value], architecture: str) -> int | None:
    """Bytes of the keys and values of all layers for one token; a layer without KV heads has none."""
    attention = f"{architecture}.attention"
    layers, heads = _count(metadata, f"{architecture}.block_count"), _count(metadata, f"{attention}.head_count")
    width = _count(metadata, f"{architecture}.embedding_length")
    kv_heads = metadata.get(f"{attention}.head_count_kv", heads)
    # Latent attention stores something else.
    if not layers or not heads or not width or f"{attention}.kv_lora_rank" in metadata:
        return None
    key, value = (_count(metadata, f"{attention}.{part}_length") or width // heads for part in ("key", "value"))
    if kv_heads is None or isinstance(kv_heads, str | float):
        return None
    total_kv_heads = kv_heads * layers if isinstance(kv_heads, int) else sum(kv_heads)
    size = total_kv_heads * (key + value) * _KV_NUMBER_BYTES
    return size if size > 0 else None


def _text(metadata: Mapping[str, Value], key: str) -> str:
    value = metadata.get(key, "")
    return value if isinstance(value, str) else ""


def _count(metadata: Mapping[str, Value], key: str) -> int | None:
    value = metadata.get(key)
    return value if isinstance(value, int) and value >= 0 else None


def _foreign_format(head: bytes) -> str:
    """The format that a file's first bytes (some hundred) show, and what to do about it."""
    if head.startswith(_LFS_POINTER):
        return "it is a Git LFS pointer, which only names the file; fetch the file itself with 'git lfs pull'"
    if head.lstrip().lower().startswith(_WEB_PAGE):
        return "it is a web page; use the link that downloads the file, not the one that shows it"
    if head[8:10] == _SAFETENSORS_HEADER:
        return "it looks like safetensors; convert the model with llama.cpp's convert_hf_to_gguf.py"
    if head.startswith(_ZIP):
        return "it is a zip archive or a PyTorch checkpoint; unpack it, or convert the model to GGUF"
    if head.startswith(_BEFORE_GGUF):
        return "it has the GGML format from before August 2023; convert the model again, or look for a newer file"
    return f"it begins with {head[:4]!r}, expected {MAGIC!r}; give the path of a GGUF file"
