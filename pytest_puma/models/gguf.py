"""The header of a GGUF file, read without numpy and without the weights.

    "GGUF", version, number of tensors, number of pairs
    pairs      key, type, value
    tensors    name, dimensions, type, offset into the data
    data       from the next multiple of `general.alignment`

All little-endian; a text is its length and its UTF-8 bytes. The format is described in `docs/gguf.md` of
https://github.com/ggml-org/ggml. Vocabularies are arrays of several 100,000 texts: they are stepped over.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_puma.core import ModelError
from pytest_puma.models.foreign import MAGIC, foreign_format
from pytest_puma.models.ggml import BLOCKS, FILE_TYPES

Value: TypeAlias = "int | float | str | tuple[int, ...] | None"

VERSIONS = (2, 3)
_LAYOUTS = {
    number: struct.Struct(f"<{code}")
    for number, code in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        7: "?",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
_UINT32, _UINT64 = _LAYOUTS[4], _LAYOUTS[10]
_TEXT, _ARRAY = 8, 9
_WHOLE = {4, 5, 10, 11}
_LONGEST_TEXT = 1 << 24  # a damaged length must not read gigabytes; chat templates have some 10,000 characters
_MOST_DIMENSIONS = 4
_GUESSED = 1024  # a flag of `general.file_type`
_MOST_LAYERS = 1024  # the largest models have some 130; an array of no more whole numbers has one for each layer
_HALF = 2  # bytes of a number in llama.cpp's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFile:
    """What a header tells. Texts are empty, `context_length` (in tokens) is `None` where it tells nothing.

    `kind` is `model`, `adapter`, `mmproj` ...; `tokenizer` the kind of vocabulary; `file_type` the quantisation,
    as in `Q4_K_M`; `tensors` counts those in this file of `parts`, `size` its bytes. `cell_bytes` is what attention
    keeps of a token, `None` where the header does not tell.
    """

    architecture: str
    name: str
    kind: str
    file_type: str
    tokenizer: str
    chat_template: bool
    context_length: int | None
    kv_slot_bytes: int | None
    tensors: int
    parts: int
    size: int


def read_gguf(path: Path) -> GgufFile:
    """Read the header, and see that the file is long enough for its tensors.

    A `ModelError` says what is there instead of a whole GGUF file.
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
        msg = f"{path} is no GGUF file: {foreign_format(data[:512])}"
        raise ModelError(msg)
    reader = _Reader(data, position=len(MAGIC))
    try:
        _check_version(path, reader.number(_UINT32))
        tensors, pairs = reader.number(_UINT64), reader.number(_UINT64)
        metadata = dict(reader.pair() for _ in range(pairs))
        needed = max((reader.tensor_end() for _ in range(tensors)), default=0)
    except _DamagedError:
        msg = (
            f"{path}: the header makes no sense at byte {reader.position:,} of {size:,}: it is cut off or damaged; "
            "download it again"
        )
        raise ModelError(msg) from None
    _check_layers(path, metadata)
    needed += _aligned(reader.position, metadata) if tensors else 0
    if needed > size:
        msg = f"{path} has {size:,} bytes, and its tensors end at byte {needed:,}: it is cut off; download it again"
        raise ModelError(msg)
    return _described(metadata, tensors=tensors, size=size)


def _check_version(path: Path, version: int) -> None:
    if version in VERSIONS:
        return
    advice = "convert the model again, or look for a newer file"
    if version > max(VERSIONS):
        # In a big-endian file, the number stands in the upper half.
        big_endian = version % (1 << 16) == 0
        advice = "it is big-endian: get a little-endian one" if big_endian else "pytest-puma knows no newer one"
    msg = f"{path} has GGUF version {version}; expected {' or '.join(map(str, VERSIONS))}; {advice}"
    raise ModelError(msg)


def _check_layers(path: Path, metadata: Mapping[str, Value]) -> None:
    layers = _count(metadata, f"{_text(metadata, 'general.architecture')}.block_count") or 0
    if layers > _MOST_LAYERS:
        msg = f"{path} claims {layers:,} layers; expected at most {_MOST_LAYERS:,}: it is damaged; download it again"
        raise ModelError(msg)


def _aligned(position: int, metadata: Mapping[str, Value]) -> int:
    alignment = _count(metadata, "general.alignment") or 32
    return -(-position // alignment) * alignment


def _described(metadata: Mapping[str, Value], *, tensors: int, size: int) -> GgufFile:
    architecture = _text(metadata, "general.architecture")
    file_type = _count(metadata, "general.file_type")
    return GgufFile(
        architecture=architecture,
        name=_text(metadata, "general.name"),
        kind=_text(metadata, "general.type") or "model",
        file_type="" if file_type is None else FILE_TYPES.get(file_type % _GUESSED, str(file_type)),
        tokenizer=_text(metadata, "tokenizer.ggml.model"),
        chat_template=bool(_text(metadata, "tokenizer.chat_template")),
        context_length=_count(metadata, f"{architecture}.context_length"),
        kv_slot_bytes=_cell_bytes(metadata, architecture),
        tensors=tensors,
        parts=_count(metadata, "split.count") or 1,
        size=size,
    )


def _cell_bytes(metadata: Mapping[str, Value], architecture: str) -> int | None:
    """Keys and values of all layers; a layer without heads of its own keeps none."""
    attention = f"{architecture}.attention"
    layers, heads = _count(metadata, f"{architecture}.block_count"), _count(metadata, f"{attention}.head_count")
    width = _count(metadata, f"{architecture}.embedding_length")
    kept = metadata.get(f"{attention}.head_count_kv", heads)
    # Latent attention keeps something else.
    if not layers or not heads or not width or f"{attention}.kv_lora_rank" in metadata:
        return None
    key, value = (_count(metadata, f"{attention}.{part}_length") or width // heads for part in ("key", "value"))
    if kept is None or isinstance(kept, str | float):
        return None
    heads_kept = kept * layers if isinstance(kept, int) else sum(kept)
    found = heads_kept * (key + value) * _HALF
    return found if found > 0 else None


def _text(metadata: Mapping[str, Value], key: str) -> str:
    value = metadata.get(key, "")
    return value if isinstance(value, str) else ""


def _count(metadata: Mapping[str, Value], key: str) -> int | None:
    value = metadata.get(key)
    return value if isinstance(value, int) and value >= 0 else None


class _DamagedError(Exception):
    """The bytes at the reader's position are no header."""


@dataclass(slots=True)
class _Reader:
    """Walks through a header."""

    data: mmap.mmap
    position: int

    def number(self, layout: struct.Struct) -> int:
        """The next number; floats and truth values come out of the same door."""
        try:
            (value,) = layout.unpack_from(self.data, self.position)
        except struct.error:
            raise _DamagedError from None
        self.position += layout.size
        return value  # type: ignore[no-any-return]

    def text(self) -> str:
        length = self.number(_UINT64)
        start = self.position
        if length > _LONGEST_TEXT:
            raise _DamagedError
        self._skip(length)
        return self.data[start : self.position].decode("utf-8", errors="replace")

    def pair(self) -> tuple[str, Value]:
        """A key and its value; an array of other than a few whole numbers is stepped over."""
        key, kind = self.text(), self.number(_UINT32)
        if kind == _ARRAY:
            return key, self._array()
        return key, self.text() if kind == _TEXT else self.number(_layout(kind))

    def tensor_end(self) -> int:
        """Where a tensor ends in the data, in bytes; where it begins, if its type is newer than our table."""
        self.text()
        dimensions = self.number(_UINT32)
        if dimensions > _MOST_DIMENSIONS:
            raise _DamagedError
        weights = math.prod(self.number(_UINT64) for _ in range(dimensions))
        per_block, block = BLOCKS.get(self.number(_UINT32), (1, 0))
        return self.number(_UINT64) + weights // per_block * block

    def _skip(self, size: int) -> None:
        if self.position + size > len(self.data):
            raise _DamagedError
        self.position += size

    def _array(self) -> tuple[int, ...] | None:
        kind, count = self.number(_UINT32), self.number(_UINT64)
        if kind == _TEXT:
            self._skip_texts(count)
        elif kind in _WHOLE and count <= _MOST_LAYERS:
            return tuple(self.number(_layout(kind)) for _ in range(count))
        else:
            self._skip(_layout(kind).size * count)
        return None

    def _skip_texts(self, count: int) -> None:
        length_at, data, position = _UINT64.unpack_from, self.data, self.position
        try:
            for _ in range(count):
                position += 8 + length_at(data, position)[0]
        except (struct.error, OverflowError):
            raise _DamagedError from None
        self._skip(position - self.position)


def _layout(kind: int) -> struct.Struct:
    """How a number of this type is laid out."""
    try:
        return _LAYOUTS[kind]
    except KeyError:
        raise _DamagedError from None
