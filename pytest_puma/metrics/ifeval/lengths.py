"""Instructions about the numbers of words, sentences and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pytest_puma.metrics.ifeval.kind import Kind, count, position, relation, text
from pytest_puma.metrics.sentences import split_sentences


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
    "length_constraints:number_words": Kind(number_words, {"num_words": count, "relation": relation}),
    "length_constraints:number_sentences": Kind(number_sentences, {"num_sentences": count, "relation": relation}),
    "length_constraints:number_paragraphs": Kind(number_paragraphs, {"num_paragraphs": count}),
    "length_constraints:nth_paragraph_first_word": Kind(
        nth_paragraph_first_word, {"num_paragraphs": count, "nth_paragraph": position, "first_word": text}
    ),
}
