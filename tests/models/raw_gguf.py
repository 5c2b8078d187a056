"""GGUF files written byte by byte, so that a test can make any part of them wrong."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models.gguf import read_gguf

Value: TypeAlias = "int | str | Sequence[int] | Sequence[str]"
Tensor: TypeAlias = "tuple[str, tuple[int, ...], int, int]"  # name, dimensions, type, offset

MODEL: Mapping[str, Value] = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2"}
WEIGHT: Tensor = ("token_embd.weight", (8, 4), 0, 0)  # 32 numbers of type F32: 128 bytes


def raw_gguf(
    pairs: Mapping[str, Value] = MODEL,
    tensors: Sequence[Tensor] = (WEIGHT,),
    *,
    data: int = 128,
    version: int = 3,
    order: str = "<",
) -> bytes:
    """A header, padded to 32 bytes, and `data` zero bytes."""
    head = b"GGUF" + struct.pack(f"{order}IQQ", version, len(tensors), len(pairs))
    head += b"".join(text(key) + _value(value) for key, value in pairs.items())
    head += b"".join(_tensor(tensor) for tensor in tensors)
    return head + bytes(-len(head) % 32) + bytes(data)


def text(value: str) -> bytes:
    """A length and the bytes."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def refused(path: Path, content: bytes) -> str:
    """The error about a file with this content."""
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_gguf(path)
    return str(caught.value)


def _value(value: Value) -> bytes:
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    texts = [text(each) for each in value if isinstance(each, str)]
    items = texts or [struct.pack("<i", each) for each in value if isinstance(each, int)]
    return struct.pack("<IIQ", 9, 8 if texts else 5, len(items)) + b"".join(items)


def _tensor(tensor: Tensor) -> bytes:
    name, dimensions, kind, offset = tensor
    count = len(dimensions)
    return text(name) + struct.pack(f"<I{count}QIQ", count, *dimensions, kind, offset)
