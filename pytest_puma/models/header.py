"""Reading of a GGUF header: its numbers, texts, metadata pairs and tensors, one after the other.

    text       length (uint64), UTF-8 bytes
    pair       key (text), type (uint32), value
    array      type of its elements (uint32), their number (uint64), elements
    tensor     name (text), number of dimensions (uint32), dimensions (uint64), type (uint32), offset (uint64)

All little-endian. Vocabularies are arrays of several 100,000 texts: they are skipped.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

#: An array that is skipped is the part of the file that has its elements.
Value: TypeAlias = "int | float | str | tuple[int, ...] | slice"

#: Weights per block; by the name of a tensor type, its number and its bytes per block, as of llama.cpp b9000
#: (`ggml.h`, `ggml-common.h`, `llama.h`).
_FAMILIES: tuple[tuple[int, dict[str, tuple[int, int]]], ...] = (
    (1, {"F32": (0, 4), "F16": (1, 2), "BF16": (30, 2), "F64": (28, 8)}),
    (1, {"I8": (24, 1), "I16": (25, 2), "I32": (26, 4), "I64": (27, 8)}),
    (32, {"Q4_0": (2, 18), "Q4_1": (3, 20), "Q5_0": (6, 22), "Q5_1": (7, 24), "Q8_0": (8, 34), "Q8_1": (9, 40)}),
    (32, {"IQ4_NL": (20, 18), "MXFP4": (39, 17)}),
    (64, {"NVFP4": (40, 36)}),
    (128, {"Q1_0": (41, 18)}),
    (256, {"Q2_K": (10, 84), "Q3_K": (11, 110), "Q4_K": (12, 144), "Q5_K": (13, 176), "Q6_K": (14, 210)}),
    (256, {"Q8_K": (15, 292), "IQ2_XXS": (16, 66), "IQ2_XS": (17, 74), "IQ3_XXS": (18, 98), "IQ1_S": (19, 50)}),
    (256, {"IQ3_S": (21, 110), "IQ2_S": (22, 82), "IQ4_XS": (23, 136), "IQ1_M": (29, 56)}),
    (256, {"TQ1_0": (34, 54), "TQ2_0": (35, 66)}),
)
#: Tensor type: (weights per block, bytes per block), and its name.
BLOCKS = {kind: (weights, size) for weights, types in _FAMILIES for kind, size in types.values()}
TYPE_NAMES = {kind: name for _, types in _FAMILIES for name, (kind, _) in types.items()}


def bytes_of(type_name: str) -> float:
    """Return the bytes of a weight of a known type."""
    per_block, block = next(
        (weights, types[type_name.upper()][1]) for weights, types in _FAMILIES if type_name.upper() in types
    )
    return block / per_block


#: Numbers by their type; 8 and 9 are texts and arrays.
_LAYOUTS = {
    number: struct.Struct(f"<{code}") for number, code in zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True)
}
_UINT32, _TEXT, _ARRAY, _UINT64 = 4, 8, 9, 10
_INTEGERS = {4, 5, 10, 11}
_MAX_TEXT = 1 << 24  # a damaged length must not read gigabytes; chat templates have some 10,000 characters
#: A damaged number must not make llama.cpp take gigabytes, either. Models have up to some 260,000 tokens, 50,000
#: tensors (where each expert is one) and 100 pairs.
_MAX_TEXTS, MAX_TENSORS, MAX_PAIRS = 1 << 22, 1 << 18, 1 << 16
_MAX_DIMENSIONS = 4
MAX_LAYERS = 1024  # the largest models have some 130; a shorter array of integers has one element per layer


class DamagedHeaderError(Exception):
    """The bytes at the reader's position are no header."""


class Tensor(NamedTuple):
    """Its name, its shape (the number of inputs of a matrix comes first), its type, and its offset into the data."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def weights(self) -> int:
        """The number of its weights."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Its bytes; 0 if the type is newer than our table."""
        per_block, block = BLOCKS.get(self.kind, (1, 0))
        return self.weights // per_block * block

    @property
    def end(self) -> int:
        """The end in the data, in bytes; the start if the type is newer than our table."""
        return self.offset + self.size

    @property
    def type_name(self) -> str:
        """The name of its type, or the number of a newer one."""
        return TYPE_NAMES.get(self.kind, f"type {self.kind}")


@dataclass(slots=True)
class HeaderReader:
    """Reads a header from `position` on; a `DamagedHeaderError` where it is invalid."""

    data: mmap.mmap
    position: int

    def uint32(self) -> int:
        """Read a number of four bytes."""
        return self._number(_UINT32)

    def count(self, maximum: int) -> int:
        """Read a number of eight bytes, up to `maximum`."""
        count = self._number(_UINT64)
        if count > maximum:
            raise DamagedHeaderError
        return count

    def pair(self) -> tuple[str, Value]:
        """Read a key and its value; an array is skipped unless it holds at most `MAX_LAYERS` integers."""
        key, kind = self._text(), self.uint32()
        if kind == _ARRAY:
            return key, self._array()
        return key, self._text() if kind == _TEXT else self._number(kind)

    def tensor(self) -> Tensor:
        """Read a tensor."""
        name, dimensions = self._text(), self.uint32()
        if dimensions > _MAX_DIMENSIONS:
            raise DamagedHeaderError
        shape = tuple(self._number(_UINT64) for _ in range(dimensions))
        return Tensor(name, shape, self.uint32(), self._number(_UINT64))

    def _number(self, kind: int) -> int:
        """The next number; floats and booleans are read the same way."""
        try:
            (value,) = _LAYOUTS[kind].unpack_from(self.data, self.position)
        except (KeyError, struct.error):
            raise DamagedHeaderError from None
        self.position += _LAYOUTS[kind].size
        return value  # type: ignore[no-any-return]

    def _text(self) -> str:
        length = self.count(_MAX_TEXT)
        start = self.position
        self._skip(length)
        return self.data[start : self.position].decode("utf-8", errors="replace")

    def _array(self) -> tuple[int, ...] | slice:
        kind, count = self.uint32(), self._number(_UINT64)
        start = self.position
        if kind == _TEXT:
            self._skip_texts(count)
        elif kind in _INTEGERS and count <= MAX_LAYERS:
            return tuple(self._number(kind) for _ in range(count))
        elif kind in _LAYOUTS:
            self._skip(_LAYOUTS[kind].size * count)
        else:
            raise DamagedHeaderError
        return slice(start, self.position)

    def _skip(self, size: int) -> None:
        if self.position + size > len(self.data):
            raise DamagedHeaderError
        self.position += size

    def _skip_texts(self, count: int) -> None:
        if count > _MAX_TEXTS:
            raise DamagedHeaderError
        length_at, data, position = _LAYOUTS[_UINT64].unpack_from, self.data, self.position
        try:
            for _ in range(count):
                position += 8 + length_at(data, position)[0]
        except (struct.error, OverflowError):
            raise DamagedHeaderError from None
        self._skip(position - self.position)
