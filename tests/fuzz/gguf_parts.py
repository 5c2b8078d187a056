"""A GGUF file taken apart, so that a fuzzer can change any part of it.

    parts = take_apart(path.read_bytes())
    parts.pair("general.alignment").set(UINT32, 0)
    path.write_bytes(parts.content())

The parts of a whole file, put together again, are the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, TEXT, ARRAY, UINT64, INT64, FLOAT64 = range(13)
#: An element of an array.
Element: TypeAlias = float | bytes
CODES: Final = dict(enumerate("BbHhIif?")) | {UINT64: "Q", INT64: "q", FLOAT64: "d"}


@dataclass
class Pair:
    """A key and the bytes of its value, after the type."""

    key: bytes
    kind: int
    value: bytes

    def set(self, kind: int, value: float | str | bytes) -> None:
        self.kind = kind
        self.value = text(value) if isinstance(value, (str, bytes)) else number(kind, value)


@dataclass
class Tensor:
    """A tensor's description; `count` is the number of dimensions that it claims."""

    name: bytes
    dimensions: list[int]
    kind: int
    offset: int
    count: int | None = None

    def bytes(self) -> bytes:
        count = len(self.dimensions) if self.count is None else self.count
        dimensions = b"".join(number(UINT64, each) for each in self.dimensions)
        return text(self.name) + number(UINT32, count) + dimensions + struct.pack("<IQ", self.kind, self.offset)


@dataclass
class Parts:
    """The parts; `counts`: the numbers of tensors and pairs that the file claims, None for the true ones."""

    pairs: list[Pair]
    tensors: list[Tensor]
    data: bytes
    version: int = 3
    counts: list[int | None] = field(default_factory=lambda: [None, None])

    def pair(self, key: str) -> Pair:
        return next(pair for pair in self.pairs if pair.key == key.encode())

    def header(self) -> bytes:
        tensors, pairs = (
            true if claimed is None else claimed
            for true, claimed in zip((len(self.tensors), len(self.pairs)), self.counts, strict=True)
        )
        head = b"GGUF" + struct.pack("<IQQ", self.version, tensors, pairs)
        head += b"".join(text(pair.key) + number(UINT32, pair.kind) + pair.value for pair in self.pairs)
        return head + b"".join(tensor.bytes() for tensor in self.tensors)

    def content(self) -> bytes:
        head = self.header()
        return head + bytes(-len(head) % 32) + self.data


def number(kind: int, value: float) -> bytes:
    """The bytes of a number of this type; a whole number beyond its range keeps its lowest bits."""
    code = CODES[kind]
    if code in "fd":
        return struct.pack(f"<{code}", value)
    size = struct.calcsize(code)
    return (int(value) % (1 << 8 * size)).to_bytes(size, "little")


def text(value: str | bytes) -> bytes:
    """A length and the bytes."""
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def array(kind: int, values: Sequence[Element], *, count: int | None = None) -> bytes:
    """The bytes of an array of this type; `count` is the number of elements that it claims."""
    items = b"".join(text(each) if isinstance(each, bytes) else number(kind, each) for each in values)
    return struct.pack("<IQ", kind, len(values) if count is None else count) + items


def elements(value: bytes) -> tuple[int, list[Element]]:
    """The type and the elements of an array."""
    kind, count = struct.unpack_from("<IQ", value)
    if kind != TEXT:
        return kind, list(struct.unpack_from(f"<{count}{CODES[kind]}", value, 12))
    texts: list[Element] = []
    position = 12
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", value, position)
        texts.append(value[position + 8 : position + 8 + length])
        position += 8 + length
    return kind, texts


def take_apart(content: bytes) -> Parts:
    """The parts of a whole GGUF file."""
    version, tensors, pairs = struct.unpack_from("<IQQ", content, 4)
    reader = _Reader(content, 24)
    parts = Parts([reader.pair() for _ in range(pairs)], [reader.tensor() for _ in range(tensors)], b"", version)
    parts.data = content[reader.position + -reader.position % 32 :]
    return parts


@dataclass
class _Reader:
    content: bytes
    position: int

    def take(self, size: int) -> bytes:
        self.position += size
        return self.content[self.position - size : self.position]

    def numbers(self, code: str) -> tuple[int, ...]:
        return struct.unpack(code, self.take(struct.calcsize(code)))

    def text(self) -> bytes:
        return self.take(self.numbers("<Q")[0])

    def pair(self) -> Pair:
        key, (kind,) = self.text(), self.numbers("<I")
        start = self.position
        self._skip(kind)
        return Pair(key, kind, self.content[start : self.position])

    def _skip(self, kind: int) -> None:
        if kind == TEXT:
            self.text()
        elif kind == ARRAY:
            inner, count = self.numbers("<IQ")
            for _ in range(count):
                self._skip(inner)
        else:
            self.take(struct.calcsize(CODES[kind]))

    def tensor(self) -> Tensor:
        name, (count,) = self.text(), self.numbers("<I")
        dimensions = list(self.numbers(f"<{count}Q"))
        return Tensor(name, dimensions, *self.numbers("<IQ"))
