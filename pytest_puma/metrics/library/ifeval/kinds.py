"""The 25 kinds of instruction: words and letters, the parts and the form of a reply, and a reply as a whole.

Keywords are literal texts in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_puma.metrics.library.ifeval.kind import Kind, count, letter, position, relation, text, texts
from pytest_puma.metrics.library.language import canonical, known_languages, language_of
from pytest_puma.metrics.library.length import split_sentences

_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
#: Separators of words; a comma or a colon before a digit is none.
_BETWEEN = re.compile(r"[\s;@#$%&*?!()\[\]{}<>\"`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb]|[,:](?!\d)|--+|\.\.\.")
#: Where a second word begins, with or without a full stop after it: DO|N'T, IT|'S, CAN|NOT.
_SECOND = re.compile(
    r"(?=n't\.?$)|(?='(?:ll|re|ve|s|m|d)\.?$)|(?<=^can)(?=not\.?$)|(?<=^gim|^lem)(?=me\.?$)|(?<=^gon|^wan)(?=na\.?$)|(?<=^got)(?=ta\.?$)",
    re.IGNORECASE,
)


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
    first = paragraphs[nth_paragraph - 1].split()
    return bool(first) and _bare(first[0]) == first_word.lower()


def _bare(word: str) -> str:
    """A word in lower case up to its first punctuation mark, without quotation marks before it."""
    return re.split(r"[.,?!'\"]", word.lstrip("'").lstrip('"'))[0].lower()


def number_placeholders(reply: str, num_placeholders: int) -> bool:
    """At least as many spans in square brackets, each on one line."""
    # A span without an end is one match too, as a search from each of thousands of brackets would take minutes.
    return sum(map(bool, re.findall(r"\[[^\]\n]*(\]?)", reply))) >= num_placeholders


def postscript(reply: str, postscript_marker: str) -> bool:
    """The marker of a postscript occurs in any case; after the full stops of P.S. and P.P.S there may be a space."""
    marker = _POSTSCRIPTS.get(postscript_marker, re.escape(postscript_marker.lower()))
    return re.search(marker, reply.lower()) is not None


def number_bullet_lists(reply: str, num_bullets: int) -> bool:
    """Exactly as many lines that start with `-`, or with `*` but not `**`."""
    stars = re.findall(r"^[^\S\n]*\*[^*].*", reply, flags=re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*-", reply, flags=re.MULTILINE)
    return len(stars) + len(dashes) == num_bullets


def constrained_response(reply: str) -> bool:
    """One of three fixed sentences occurs."""
    return any(answer in reply for answer in _ANSWERS)


def number_highlighted_sections(reply: str, num_highlights: int) -> bool:
    """At least as many spans `*x*` and `**x**`, each on one line and not empty."""
    spans = [*re.findall(r"\*([^\n*]*)\*", reply), *re.findall(r"\*\*([^\n*]*)\*\*", reply)]
    return sum(bool(span.strip()) for span in spans) >= num_highlights


def multiple_sections(reply: str, section_spliter: str, num_sections: int) -> bool:
    """At least as many times a word before a number, as in `Section 1`."""
    return len(re.findall(rf"{re.escape(section_spliter)}\s?\d+", reply)) >= num_sections


def json_format(reply: str) -> bool:
    """The whole reply is JSON, with or without a Markdown fence."""
    bare = re.sub(r"^```(?:json|Json|JSON)?|```$", "", reply.strip())
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def title(reply: str) -> bool:
    """A title in double angular brackets occurs, on one line and not empty."""
    titles = (line.partition("<<")[2].rpartition(">>")[0] for line in reply.split("\n"))
    return any(title.strip("<").strip(">").strip() for title in titles)


def two_responses(reply: str) -> bool:
    """Exactly two different texts, between six asterisks; these may open and close the reply, too."""
    texts = [part.strip() for part in reply.split("******")]
    given = list(filter(None, texts))
    return all(texts[1:-1]) and len(given) == len(set(given)) == 2  # noqa: PLR2004 - as the name says


def response_language(reply: str, language: str) -> bool:
    """The language is the requested one, or none can be detected."""
    return language_of(reply, also=frozenset({language})) in {language, None}


def repeat_prompt(reply: str, prompt_to_repeat: str) -> bool:
    """The reply starts with a given prompt, in any case."""
    return reply.strip().lower().startswith(prompt_to_repeat.lower())


def end_checker(reply: str, end_phrase: str) -> bool:
    """The reply ends with a phrase, in any case, and perhaps with quotation marks after it."""
    text = reply.strip().lower()
    return text.endswith(end_phrase.lower()) or text.strip('"').endswith(end_phrase.lower())


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


#: By id.
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
    "detectable_content:number_placeholders": Kind(number_placeholders, {"num_placeholders": count}),
    "detectable_content:postscript": Kind(postscript, {"postscript_marker": text}),
    "detectable_format:number_bullet_lists": Kind(number_bullet_lists, {"num_bullets": count}),
    "detectable_format:constrained_response": Kind(constrained_response),
    "detectable_format:number_highlighted_sections": Kind(number_highlighted_sections, {"num_highlights": count}),
    "detectable_format:multiple_sections": Kind(multiple_sections, {"section_spliter": text, "num_sections": count}),
    "detectable_format:json_format": Kind(json_format),
    "detectable_format:title": Kind(title),
    "combination:two_responses": Kind(two_responses),
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
