"""Instructions about words and letters that a reply has or has not, and about its words, sentences and paragraphs.

Keywords are literal texts in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pytest_puma.metrics.library.ifeval.kind import Kind, count, letter, position, relation, text, texts
from pytest_puma.metrics.library.sentences import split_sentences


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


def number_words(reply: str, num_words: int, relation: Callable[[int, int], bool]) -> bool:
    """At least, or less than, as many words; both halves of a hyphenated word count."""
    return relation(len(re.findall(r"\w+", reply)), num_words)


def number_sentences(reply: str, num_sentences: int, relation: Callable[[int, int], bool]) -> bool:
    """At least, or less than, as many sentences."""
    return relation(len(split_sentences(reply)), num_sentences)


def number_paragraphs(reply: str, num_paragraphs: int) -> bool:
    """Exactly as many paragraphs between dividers `***`; a divider may open and close the reply."""
    paragraphs = [part.strip() for part in reply.split("***")]
    return all(paragraphs[1:-1]) and sum(map(bool, paragraphs)) == num_paragraphs


def nth_paragraph_first_word(reply: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Exactly as many paragraphs between blank lines, one of which starts with a word in any case.

    The word ends at the first punctuation mark. An empty paragraph does not count, but keeps its place.
    """
    paragraphs = [part.strip() for part in reply.split("\n\n")]
    if sum(map(bool, paragraphs)) != num_paragraphs or nth_paragraph > num_paragraphs:
        return False
    words = paragraphs[nth_paragraph - 1].split()
    return bool(words) and _bare(words[0]) == first_word.lower()


def _bare(word: str) -> str:
    """A word in lower case up to its first punctuation mark, without quotation marks before it."""
    return re.split(r"[.,?!'\"]", word.lstrip("'").lstrip('"'))[0].lower()


KINDS: Mapping[str, Kind] = {
    "keywords:existence": Kind(existence, {"keywords": texts}),
    "keywords:frequency": Kind(frequency, {"keyword": text, "frequency": count, "relation": relation}),
    "keywords:forbidden_words": Kind(forbidden_words, {"forbidden_words": texts}),
    "keywords:letter_frequency": Kind(
        letter_frequency, {"letter": letter, "let_frequency": count, "let_relation": relation}
    ),
    "length_constraints:number_words": Kind(number_words, {"num_words": count, "relation": relation}),
    "length_constraints:number_sentences": Kind(number_sentences, {"num_sentences": count, "relation": relation}),
    "length_constraints:number_paragraphs": Kind(number_paragraphs, {"num_paragraphs": count}),
    "length_constraints:nth_paragraph_first_word": Kind(
        nth_paragraph_first_word, {"num_paragraphs": count, "nth_paragraph": position, "first_word": text}
    ),
}
