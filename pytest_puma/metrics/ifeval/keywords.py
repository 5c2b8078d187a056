"""Instructions about words and letters that a reply has, or has not. Keywords are literal texts in any case."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pytest_puma.metrics.ifeval.kind import Kind, count, letter, relation, text, texts


def existence(reply: str, keywords: Sequence[str]) -> bool:
    """All keywords occur, also inside of words."""
    return all(_occurrences(keyword, reply) for keyword in keywords)


def frequency(reply: str, keyword: str, frequency: int, relation: Callable[[int, int], bool]) -> bool:
    """A keyword occurs at least, or less than, as many times."""
    return relation(_occurrences(keyword, reply), frequency)


def forbidden_words(reply: str, forbidden_words: Sequence[str]) -> bool:
    """None of the words occurs as a whole word."""
    return not any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", reply, flags=re.IGNORECASE) for word in forbidden_words
    )


def letter_frequency(reply: str, letter: str, let_frequency: int, let_relation: Callable[[int, int], bool]) -> bool:
    """A character occurs at least, or less than, as many times, in upper and lower case together."""
    return let_relation(reply.lower().count(letter), let_frequency)


def _occurrences(keyword: str, reply: str) -> int:
    return len(re.findall(re.escape(keyword), reply, flags=re.IGNORECASE))


KINDS: Mapping[str, Kind] = {
    "keywords:existence": Kind(existence, {"keywords": texts}),
    "keywords:frequency": Kind(frequency, {"keyword": text, "frequency": count, "relation": relation}),
    "keywords:forbidden_words": Kind(forbidden_words, {"forbidden_words": texts}),
    "keywords:letter_frequency": Kind(
        letter_frequency, {"letter": letter, "let_frequency": count, "let_relation": relation}
    ),
}
