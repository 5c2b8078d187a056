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

Value: TypeAlias = "int | float | str | tuple[int, ...] | None"

#: Weights per block, and bytes per block by tensor type, as of llama.cpp b9000 (`ggml.h`, `ggml-common.h`, `llama.h`).
_FAMILIES = (
    (1, {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2}),  # F32, F16, I8, I16, I32, I64, F64, BF16
    (32, {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 40}),  # Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1
    (32, {20: 18, 39: 17}),  # IQ4_NL, MXFP4
    (64, {40: 36}),  # NVFP4
    (128, {41: 18}),  # Q1_0
    (256, {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292}),  # Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, Q8_K
    (256, {16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82}),  # IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ3_S, IQ2_S
    (256, {23: 136, 29: 56, 34: 54, 35: 66}),  # IQ4_XS, IQ1_M, TQ1_0, TQ2_0
)
#: Tensor type: (weights per block, bytes per block).
BLOCKS = {kind: (weights, size) for weights, sizes in _FAMILIES for kind, size in sizes.items()}

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
    def end(self) -> int:
        """The end in the data, in bytes; the start if the type is newer than our table."""
        per_block, block = BLOCKS.get(self.kind, (1, 0))
        return self.offset + math.prod(self.shape) // per_block * block


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

    def _array(self) -> tuple[int, ...] | None:
        kind, count = self.uint32(), self._number(_UINT64)
        if kind == _TEXT:
            self._skip_texts(count)
        elif kind in _INTEGERS and count <= MAX_LAYERS:
            return tuple(self._number(kind) for _ in range(count))
        elif kind in _LAYOUTS:
            self._skip(_LAYOUTS[kind].size * count)
        else:
            raise DamagedHeaderError
        return None

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
