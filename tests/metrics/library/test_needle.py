"""Hidden numbers in a reply, or a word for none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.needle import NONE_WORDS, needle
from tests.factories import sample
from tests.metrics.library.replies import replied, score

#: The two words of the Persian "none of them".
HICH, KODAM = "\u0647\u06cc\u0686", "\u06a9\u062f\u0627\u0645"


@pytest.mark.parametrize(
    ("text", "references", "value"),
    [
        ("The numbers are 5372 and 7907.", ("5372", "7907"), 1),
        ("7907, 5372, 5372", ("5372", "7907"), 1),  # any order, each as often as it pleases
        ("1. 5372\n2. 7907", ("5372", "7907"), 1),  # one digit is the number of a list
        ("5372", ("5372", "7907"), 0),
        ("5372, 7907, 1111", ("5372", "7907"), 0),
        ("none, or 5372", ("5372",), 0),
        ("nonexistent: 5372", ("5372",), 1),  # not inside another word
        ("05372", ("5372",), 1),
        ("53720", ("5372",), 0),
        ("\uff15\uff13\uff17\uff12", ("5372",), 1),  # full-width digits
        ("०५३७२", ("5372",), 1),
        ("5", ("5",), 1),
        ("1. 5", ("5",), 1),
        ("6", ("5",), 0),
        ("5 and 7", ("5", "7"), 1),
        ("00", ("0",), 1),
        ("", ("5372",), 0),
        ("None.", ("none",), 1),
        ("The text gives none", ("None",), 1),
        ("none of 5372", ("none",), 0),
        ("none of the 3", ("none",), 1),
        ("5372", ("none",), 0),
        ("nothing", ("none",), 0),
        ("", ("none",), 0),
        ("9" * 5000, ("9" * 5000,), 1),  # more digits than Python turns into a number
    ],
)
def test_a_reply_must_give_all_numbers_and_no_other(text: str, references: tuple[str, ...], value: int) -> None:
    assert score("needle", text, *references) == value


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("de", "Keine.", 1),
        ("de", "None", 0),
        ("en-de", "keine", 1),  # an English text with a German question
        ("en_de", "none", 0),
        ("EN-DE", "keine", 1),
        ("sv-FI", "ingen", 1),  # Swedish in Finland
        ("sv-FI", "ei ole", 0),
        ("zh-TW", "無", 1),
        ("ja", "答えはなしです", 1),  # no spaces around words
        ("fa", f"{HICH}\u200c{KODAM}", 1),  # a zero-width non-joiner in place of the space
        ("fa", f"{HICH}{KODAM}", 1),
    ],
)
def test_words_for_none_are_those_of_the_language(code: str, text: str, value: int) -> None:
    reference = NONE_WORDS["sv" if code == "sv-FI" else code.lower()[:2] if "de" not in code.lower() else "de"][0]
    assert score("needle", text, reference, language=code) == value


def test_the_language_may_be_a_group_of_the_sample() -> None:
    question = sample("s1", references=("keine",), groups={"language": "de"})
    assert needle(question, replied("keine")) == 1
    assert needle(question, replied("none")) == 0


def test_there_are_words_of_26_languages() -> None:
    assert len(NONE_WORDS) == 26
    for language, words in NONE_WORDS.items():
        for word in words:
            assert word == word.casefold()
            assert score("needle", f"{word}!", words[0], language=language) == 1, (language, word)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"^needle: the language of sample 's1' is 'xx'; expected one of cs, da, de"
    ):
        score("needle", "1234", "1234", language="xx")


def test_a_reference_without_a_number_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"^needle: reference 'blue' of sample 's1' is neither a number nor a word for 'none' in"
    ):
        score("needle", "1234", "blue")


def test_without_references_nothing_is_scored() -> None:
    assert score("needle", "1234") is None


@given(
    numbers=st.sets(st.integers(10, 10**9), min_size=1, max_size=5),
    extra=st.integers(10, 10**9),
    order=st.randoms(use_true_random=False),
)
def test_numbers_are_compared_as_a_set(numbers: set[int], extra: int, order: object) -> None:
    written = [*map(str, numbers)]
    order.shuffle(written)  # type: ignore[attr-defined]
    references = [*map(str, numbers)]
    assert score("needle", ", ".join(written), *references) == 1
    assert score("needle", ", ".join([*written, str(extra)]), *references) == float(extra in numbers)
    assert score("needle", ", ".join(written[1:]), *references) == 0
