"""Instructions about a reply as a whole: its language, its case, its first and last words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_puma.metrics.library.ifeval.kind import Kind, count, relation, text
from pytest_puma.metrics.library.language import canonical, known_languages, language_of

#: Separators of words; a comma or a colon before a digit is none.
_BETWEEN = re.compile(r"[\s;@#$%&*?!()\[\]{}<>\"`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb]|[,:](?!\d)|--+|\.\.\.")
#: Where a second word begins, with or without a full stop after it: DO|N'T, IT|'S, CAN|NOT.
_SECOND = re.compile(
    r"(?=n't\.?$)|(?='(?:ll|re|ve|s|m|d)\.?$)|(?<=^can)(?=not\.?$)|(?<=^gim|^lem)(?=me\.?$)|(?<=^gon|^wan)(?=na\.?$)|(?<=^got)(?=ta\.?$)",
    re.IGNORECASE,
)


def response_language(reply: str, language: str) -> bool:
    """The language is the requested one, or none can be detected."""
    return language_of(reply, also=frozenset({language})) in {language, None}


def repeat_prompt(reply: str, prompt_to_repeat: str) -> bool:
    """The reply starts with a given prompt, in any case."""
    return reply.strip().lower().startswith(prompt_to_repeat.lower())


def end_checker(reply: str, end_phrase: str) -> bool:
    """The reply ends with a phrase, in any case, and perhaps with quotation marks after it."""
    text = reply.strip().lower()
    return any(each.endswith(end_phrase.lower()) for each in (text, text.strip('"')))


def quotation(reply: str) -> bool:
    """The reply stands between double quotation marks."""
    return re.fullmatch(r'".*"', reply.strip(), flags=re.DOTALL) is not None


def no_comma(reply: str) -> bool:
    """The reply has no comma."""
    return "," not in reply


def capital_word_frequency(reply: str, capital_frequency: int, capital_relation: Callable[[int, int], bool]) -> bool:
    """At least, or less than, as many words in capital letters. A hyphenated word counts once, a contraction twice."""
    return capital_relation(sum(word.isupper() for word in words(reply)), capital_frequency)


def english_capital(reply: str) -> bool:
    """English without a lower-case letter."""
    return reply.isupper() and response_language(reply, "en")


def english_lowercase(reply: str) -> bool:
    """English without a capital letter."""
    return reply.islower() and response_language(reply, "en")


def words(reply: str) -> Iterator[str]:
    """Yield the words, as the tokenizer of NLTK that the original uses, and the marks inside of them."""
    for chunk in filter(None, _BETWEEN.split(reply)):
        yield from _SECOND.split(chunk)


def _language(value: Any) -> str:
    languages = known_languages()
    if not isinstance(value, str) or canonical(value) not in languages:
        msg = f"one of {', '.join(sorted(languages))}"
        raise ValueError(msg)
    return canonical(value)


KINDS: Mapping[str, Kind] = {
    "language:response_language": Kind(response_language, {"language": _language}),
    "combination:repeat_prompt": Kind(repeat_prompt, {"prompt_to_repeat": text}),
    "startend:end_checker": Kind(end_checker, {"end_phrase": text}),
    "startend:quotation": Kind(quotation),
    "punctuation:no_comma": Kind(no_comma),
    "change_case:capital_word_frequency": Kind(
        capital_word_frequency, {"capital_frequency": count, "capital_relation": relation}
    ),
    "change_case:english_capital": Kind(english_capital),
    "change_case:english_lowercase": Kind(english_lowercase),
}
