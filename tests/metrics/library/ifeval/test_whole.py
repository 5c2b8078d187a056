from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-untyped]

from pytest_puma.metrics.library.ifeval.kinds import words
from tests.metrics.library.ifeval.checks import ENGLISH, GERMAN, follows


@pytest.mark.parametrize(
    ("reply", "language", "followed"),
    [
        (GERMAN, "de", True),
        (ENGLISH, "de", False),
        (ENGLISH, "en", True),
        ("我每天早上喝一杯茶。", "zh-cn", True),
        ("मैं हर सुबह एक कप चाय पीता हूँ।", "hi", True),
        ("म हरेक बिहान एक कप चिया पिउँछु।", "ne", True),
        ("ನಾನು ಪ್ರತಿದಿನ ಚಹಾ ಕುಡಿಯುತ್ತೇನೆ.", "kn", True),
        (ENGLISH, "EN-GB", True),
        ("42 + 58 = 100", "de", True),
    ],
)
def test_a_reply_is_in_the_requested_language_or_in_none(reply: str, language: str, *, followed: bool) -> None:
    assert follows("language:response_language", reply, language=language) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("Name a colour. Blue.", True),
        ("  name a COLOUR.\nBlue.", True),
        ("Blue. Name a colour.", False),
        ("Name one colour.", False),
    ],
)
def test_a_reply_starts_with_the_prompt(reply: str, *, followed: bool) -> None:
    assert follows("combination:repeat_prompt", reply, prompt_to_repeat=" Name a colour. ") is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("It rains. The End!", True),
        ("It rains. the end!  \n", True),
        ('"It rains. The end!"', True),
        ("It rains. The end! Really.", False),
        ("The end! It rains.", False),
        ("It rains. The end", False),
    ],
)
def test_a_reply_ends_with_a_phrase(reply: str, *, followed: bool) -> None:
    assert follows("startend:end_checker", reply, end_phrase=" The end! ") is followed


@pytest.mark.parametrize(("reply", "followed"), [('She said: "stop it!"', True), ('She said: "Stop it!', False)])
def test_a_phrase_may_end_with_a_quotation_mark(reply: str, *, followed: bool) -> None:
    assert follows("startend:end_checker", reply, end_phrase='said: "Stop it!"') is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ('"It rains."', True),
        (' "It\nrains." \n', True),
        ('"It rains.', False),
        ('It rains."', False),
        ('"', False),
        ('""', True),
        ("'It rains.'", False),
        ("\u201cIt rains.\u201d", False),
        ('"It rains." she said', False),
    ],
)
def test_a_quotation_stands_between_double_quotation_marks(reply: str, *, followed: bool) -> None:
    assert follows("startend:quotation", reply) is followed


@pytest.mark.parametrize(
    ("reply", "followed"), [("no; none", True), ("a, b", False), ("1,000", False), ("\u3001", True)]
)
def test_no_comma_is_no_comma_anywhere(reply: str, *, followed: bool) -> None:
    assert follows("punctuation:no_comma", reply) is followed


@pytest.mark.parametrize(
    ("reply", "number", "relation", "followed"),
    [
        ("We use SQL and JSON.", 2, "at least", True),
        ("We use SQL.", 2, "at least", False),
        ("We use SQL.", 2, "less than", True),
        ("We use SQL and JSON.", 2, "less than", False),
        ("WELL-KNOWN", 2, "at least", False),
        ("I am here.", 1, "at least", True),
        ("YES,NO", 2, "at least", True),
        ("COVID-19, 2024", 2, "at least", False),
        ("**SQL**and*JSON*", 2, "at least", True),
        ("none", 0, "at least", True),
    ],
)
def test_words_in_capital_letters_are_at_least_or_less_than_as_many(
    reply: str, number: int, relation: str, *, followed: bool
) -> None:
    given = {"capital_frequency": number, "capital_relation": relation}
    assert follows("change_case:capital_word_frequency", reply, **given) is followed


#: As in English prose; the last one ends with a full stop, which both keep or split off without another count.
_WORDS = ["I", "WE", "DON'T", "HARALD'S", "IT'LL", "CANNOT", "GOTTA", "U.S.", "WELL-KNOWN", "3,000", "A1", "cow", "'VE"]
_MARKS = [" ", ", ", "; ", ": ", "? ", "! ", " -- ", "... ", " (", ") ", ' "', '" ', " $", " & ", "**", " *"]


@given(st.lists(st.tuples(st.sampled_from(_WORDS), st.sampled_from(_MARKS)), min_size=1, max_size=12))
def test_capital_words_are_counted_as_by_nltk(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + mark for word, mark in parts) + "END."
    expected = [word for word in NLTKWordTokenizer().tokenize(text) if word.isupper()]
    assert sum(word.isupper() for word in words(text)) == len(expected)


@pytest.mark.parametrize(
    ("text", "second"), [("DON'T.", "'T"), ("HARALD'S.", "'S"), ("CANNOT.", "NOT"), ("GIMME", "ME"), ("WANNA.", "NA")]
)
def test_a_contraction_is_two_words_also_before_a_full_stop(text: str, second: str) -> None:
    assert len(list(words(text))) == 2
    assert list(words(text))[1].rstrip(".").endswith(second)


@pytest.mark.parametrize(
    ("reply", "capital", "lowercase"),
    [
        (ENGLISH, False, True),
        (ENGLISH.upper(), True, False),
        (ENGLISH.capitalize(), False, False),
        (GERMAN.lower(), False, False),
        (GERMAN.upper(), False, False),
        ("42!", False, False),
    ],
)
def test_english_is_in_capitals_or_in_lower_case(reply: str, *, capital: bool, lowercase: bool) -> None:
    assert follows("change_case:english_capital", reply) is capital
    assert follows("change_case:english_lowercase", reply) is lowercase
