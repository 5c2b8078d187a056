"""Hostile changes of a GGUF file, each a function of its parts and a random generator.

    names, content = mutated(parts, random)

One to three of them make a file, with or without some wrong bytes.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Final, TypeAlias

from tests.fuzz.gguf_pair_mutations import (
    added_pair,
    huge_vocabulary,
    other_architecture,
    other_tokenizer,
    other_type_of_the_same_bytes,
    removed_pair,
    repeated_pair,
    wrong_chat_template,
    wrong_elements,
    wrong_key,
    wrong_length_of_a_text,
    wrong_length_of_an_array,
    wrong_number,
    wrong_special_token,
    wrong_text,
    wrong_type,
)
from tests.fuzz.gguf_parts import (
    Parts,
)
from tests.fuzz.gguf_tensor_mutations import (
    added_tensor,
    removed_tensor,
    repeated_tensor,
    wrong_offset,
    wrong_shape,
    wrong_tensor_name,
    wrong_tensor_type,
    wrong_weights,
)
from tests.fuzz.gguf_values import (
    LENGTHS,
)

Mutation: TypeAlias = Callable[[Parts, Random], None]


def wrong_counts(parts: Parts, random: Random) -> None:
    true = (len(parts.tensors), len(parts.pairs))
    which = random.randrange(2)
    parts.counts[which] = random.choice((true[which] - 1, true[which] + 1, *LENGTHS))


def wrong_version(parts: Parts, random: Random) -> None:
    parts.version = random.choice((0, 1, 2, 4, 1 << 24, (1 << 32) - 1))


#: The changes, each with its relative frequency.
CHANGES: Final[Mapping[Mutation, int]] = {
    wrong_number: 3,
    wrong_type: 2,
    other_type_of_the_same_bytes: 1,
    added_pair: 4,
    removed_pair: 1,
    repeated_pair: 1,
    wrong_key: 1,
    wrong_text: 1,
    wrong_length_of_a_text: 1,
    wrong_length_of_an_array: 1,
    wrong_elements: 2,
    other_architecture: 2,
    other_tokenizer: 1,
    wrong_special_token: 2,
    wrong_chat_template: 1,
    wrong_counts: 1,
    wrong_version: 1,
    wrong_shape: 2,
    wrong_tensor_type: 1,
    wrong_offset: 1,
    wrong_tensor_name: 1,
    removed_tensor: 1,
    repeated_tensor: 1,
    added_tensor: 1,
    wrong_weights: 1,
}


def mutated(parts: Parts, random: Random) -> tuple[str, bytes]:
    """The names of the changes, and the file with one to three of them."""
    parts = copy.deepcopy(parts)
    changes = random.choices([*CHANGES], [*CHANGES.values()], k=random.choice((0, 1, 1, 1, 2, 3)))
    if random.random() < 0.005:
        changes.append(huge_vocabulary)
    names = [change.__name__ for change in changes]
    for change in changes:
        # An earlier change may have removed what this one needs.
        with suppress(LookupError, ValueError, struct.error):
            change(parts, random)
    content = bytearray(parts.content())
    if not changes or random.random() < 0.1:
        names.append(_change_bytes(content, len(parts.header()), random))
    return "+".join(names), bytes(content)


def _change_bytes(content: bytearray, header: int, random: Random) -> str:
    match random.randrange(4):
        case 0:
            for _ in range(random.choice((1, 1, 2, 8))):
                content[random.randrange(header)] ^= 1 << random.randrange(8)
            return "flipped_bits"
        case 1:
            size = random.choice((1, 4, 8))
            place = random.randrange(header - size)
            content[place : place + size] = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))
            return "overwritten_bytes"
        case 2:
            del content[random.randrange(random.choice((header, len(content)))) :]
            return "truncated"
        case _:
            place = random.randrange(header)
            if random.random() < 0.5:
                del content[place : place + random.randrange(1, 40)]
            else:
                content[place:place] = random.randbytes(random.randrange(1, 40))
            return "shifted"
