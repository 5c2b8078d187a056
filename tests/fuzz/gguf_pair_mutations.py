"""Hostile changes of the metadata of a GGUF file, in its header."""

from __future__ import annotations

import copy
import math
from random import Random

from tests.fuzz.gguf_parts import (
    ARRAY,
    CODES,
    FLOAT32,
    INT32,
    TEXT,
    UINT8,
    UINT32,
    UINT64,
    Element,
    Pair,
    Parts,
    array,
    elements,
    number,
    text,
)
from tests.fuzz.gguf_values import (
    ARCHITECTURES,
    KEYS,
    LENGTHS,
    NUMBERS,
    PRE,
    TEXTS,
    TOKENIZERS,
    any_element,
    any_number,
    any_value,
    plausible_value,
)


def wrong_number(parts: Parts, random: Random) -> None:
    pair = random.choice([pair for pair in parts.pairs if pair.kind in CODES])
    pair.value = number(pair.kind, any_number(pair.kind, random))


def wrong_type(parts: Parts, random: Random) -> None:
    """A value of another type in a well-formed file."""
    pair = random.choice(parts.pairs)
    pair.kind, pair.value = any_value(random)


def other_type_of_the_same_bytes(parts: Parts, random: Random) -> None:
    random.choice(parts.pairs).kind = random.choice([*range(14), 255, 1 << 31, (1 << 32) - 1])


def added_pair(parts: Parts, random: Random) -> None:
    key = _architecture(parts).join(part.encode() for part in random.choice(KEYS).split("{}"))
    parts.pairs = [pair for pair in parts.pairs if pair.key != key]
    parts.pairs.insert(random.randrange(len(parts.pairs) + 1), Pair(key, *plausible_value(random)))


def removed_pair(parts: Parts, random: Random) -> None:
    parts.pairs.remove(random.choice(parts.pairs))


def repeated_pair(parts: Parts, random: Random) -> None:
    pair = copy.copy(random.choice(parts.pairs))
    if random.random() < 0.5:
        pair.kind, pair.value = any_value(random)
    parts.pairs.insert(random.randrange(len(parts.pairs) + 1), pair)


def wrong_key(parts: Parts, random: Random) -> None:
    random.choice(parts.pairs).key = random.choice([*TEXTS, random.choice(parts.pairs).key])


def wrong_text(parts: Parts, random: Random) -> None:
    random.choice([pair for pair in parts.pairs if pair.kind == TEXT]).set(TEXT, random.choice(TEXTS))


def wrong_length_of_a_text(parts: Parts, random: Random) -> None:
    pair = random.choice([pair for pair in parts.pairs if pair.kind == TEXT])
    pair.value = number(UINT64, random.choice(LENGTHS)) + pair.value[8:]


def wrong_length_of_an_array(parts: Parts, random: Random) -> None:
    pair = random.choice([pair for pair in parts.pairs if pair.kind == ARRAY])
    pair.value = pair.value[:4] + number(UINT64, random.choice(LENGTHS)) + pair.value[12:]


def wrong_elements(parts: Parts, random: Random) -> None:
    """An array with fewer, more, or changed elements, or of another type."""
    pair = random.choice([pair for pair in parts.pairs if pair.kind == ARRAY])
    kind, values = elements(pair.value)
    changed = [*values]
    for _ in range(random.choice((1, 1, 3, 50))):
        place = random.randrange(len(changed)) if changed else 0
        match random.randrange(5):
            case 0:
                del changed[place:]
            case 1:
                del changed[place : place + 1]
            case 2:
                changed.insert(place, any_element(kind, random))
            case 3 if changed:
                changed[place] = random.choice(changed)
            case _ if changed:
                changed[place] = any_element(kind, random)
    if random.random() < 0.1:
        others: list[tuple[int, list[Element]]] = [(INT32, [1, 2]), (FLOAT32, [math.nan]), (TEXT, [b"x"]), (UINT8, [])]
        kind, changed = random.choice(others)
    pair.value = array(kind, changed)


def huge_vocabulary(parts: Parts, random: Random) -> None:
    """Up to 200,000 tokens, with or without their types."""
    count = random.choice((5_000, 200_000))
    for pair in parts.pairs:
        if pair.key == b"tokenizer.ggml.tokens":
            pair.value = array(TEXT, [b"t%d" % (each // random.choice((1, 2))) for each in range(count)])
        if pair.key == b"tokenizer.ggml.token_type" and random.random() < 0.5:
            pair.value = array(INT32, [random.choice((1, 3, 99, -1))] * count)


def other_architecture(parts: Parts, random: Random) -> None:
    """The name alone, or with all its keys."""
    old, new = _architecture(parts), random.choice(ARCHITECTURES)
    for pair in parts.pairs:
        if pair.key == b"general.architecture":
            pair.set(TEXT, new)
    if random.random() < 0.8:
        for pair in parts.pairs:
            if pair.key.startswith(old + b"."):
                pair.key = new + pair.key[len(old) :]


def other_tokenizer(parts: Parts, random: Random) -> None:
    for pair in parts.pairs:
        if pair.key == b"tokenizer.ggml.model" and random.random() < 0.7:
            pair.set(TEXT, random.choice(TOKENIZERS))
        if pair.key == b"tokenizer.ggml.pre":
            pair.set(TEXT, random.choice(PRE))


def wrong_special_token(parts: Parts, random: Random) -> None:
    key = random.choice([key for key in KEYS if key.endswith("_token_id")]).encode()
    parts.pairs = [pair for pair in parts.pairs if pair.key != key]
    parts.pairs.append(Pair(key, UINT32, number(UINT32, random.choice((*NUMBERS, random.randrange(600))))))


def wrong_chat_template(parts: Parts, random: Random) -> None:
    value = random.choice(
        (b"", b"{{", b"{{ x.y.z }}", b"{% for a in range(10**9) %}x{% endfor %}", b"\xff", b"\0{{ 1 }}", b"x" * 200_000)
    )
    parts.pairs = [pair for pair in parts.pairs if pair.key != b"tokenizer.chat_template"]
    kind = TEXT if random.random() < 0.7 else random.randrange(13)
    parts.pairs.append(
        Pair(b"tokenizer.chat_template", *((TEXT, text(value)) if kind == TEXT else any_value(random, kind)))
    )


def _architecture(parts: Parts) -> bytes:
    return next((pair.value[8:] for pair in parts.pairs if pair.key == b"general.architecture"), b"llama")
