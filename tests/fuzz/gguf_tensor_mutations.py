"""Hostile changes of the tensors of a GGUF file, and of its weights."""

from __future__ import annotations

import copy
from random import Random

from tests.fuzz.gguf_parts import (
    Parts,
    Tensor,
)
from tests.fuzz.gguf_values import (
    LENGTHS,
    TEXTS,
)


def wrong_shape(parts: Parts, random: Random) -> None:
    tensor = _tensor(parts, random)
    place = random.randrange(len(tensor.dimensions))
    match random.randrange(7):
        case 0:
            tensor.dimensions[place] = random.choice(LENGTHS)
        case 1:
            tensor.dimensions[place] += random.choice((-1, 1, 32))
        case 2:
            tensor.dimensions.reverse()
        case 3:
            tensor.dimensions += [1] * random.choice((1, 2, 3, 200))
        case 4:
            del tensor.dimensions[place]
        case 5:
            tensor.count = random.choice((0, 1, 3, 4, 5, 100, (1 << 32) - 1))
        case _:
            tensor.dimensions = [1 << 33, 1 << 33][: random.randrange(3)]


def wrong_tensor_type(parts: Parts, random: Random) -> None:
    _tensor(parts, random).kind = random.choice([*range(45), 255, 1 << 31, (1 << 32) - 1])


def wrong_offset(parts: Parts, random: Random) -> None:
    tensor = _tensor(parts, random)
    tensor.offset = random.choice(
        (tensor.offset + 1, tensor.offset + 32, tensor.offset - 32, _tensor(parts, random).offset, *LENGTHS)
    ) % (1 << 64)


def wrong_tensor_name(parts: Parts, random: Random) -> None:
    _tensor(parts, random).name = random.choice(
        (*TEXTS, _tensor(parts, random).name, b"x" * 63, b"x" * 64, b"output.bias")
    )


def removed_tensor(parts: Parts, random: Random) -> None:
    parts.tensors.remove(_tensor(parts, random))


def repeated_tensor(parts: Parts, random: Random) -> None:
    parts.tensors.insert(random.randrange(len(parts.tensors) + 1), copy.deepcopy(_tensor(parts, random)))


def added_tensor(parts: Parts, random: Random) -> None:
    name = random.choice((b"output.weight", b"rope_freqs.weight", b"blk.0.attn_q.bias", b"blk.99.x", b"output.bias"))
    shape = [random.choice((1, 8, 64, 128)) for _ in range(random.randrange(1, 3))]
    parts.tensors.append(Tensor(name, shape, random.choice((0, 1, 8)), 0))


def wrong_weights(parts: Parts, random: Random) -> None:
    """Not-a-numbers, infinities or random bits in the weights."""
    pattern = random.choice((b"\xff", b"\x00\x00\x80\x7f", b"\x00", random.randbytes(64)))
    start = random.randrange(len(parts.data))
    size = min(random.choice((64, 4096, len(parts.data))), len(parts.data) - start)
    parts.data = parts.data[:start] + (pattern * size)[:size] + parts.data[start + size :]


def _tensor(parts: Parts, random: Random) -> Tensor:
    return random.choice(parts.tensors)
