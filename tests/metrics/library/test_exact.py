"""Equality with the references, with and without normalisation, and references inside a reply."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from tests.metrics.library.replies import score

NAMES = ("exact_match", "exact_match.loose", "contains", "cwe")


@pytest.mark.parametrize(
    ("text", "reference", "exact", "loose"),
    [
        ("Berlin", "Berlin", 1, 1),
        ("Berlin ", "Berlin", 0, 1),
        ("berlin.", "Berlin", 0, 1),
        ("The city of  Berlin!", "city of Berlin", 0, 1),
        ("«Berlin»", "Berlin", 0, 1),  # punctuation of Unicode, which SQuAD keeps
        ("STRASSE", "Straße", 0, 1),
        ("Cafe\u0301", "Café", 0, 1),  # the accent as a character of its own
        ("$5", "5", 0, 1),
        ("€5", "5", 0, 0),
        ("it's", "its", 0, 1),
        ("Berliner", "Berlin", 0, 0),
        ("theatre", "atre", 0, 0),
        ("an apple a day", "apple day", 0, 1),
        ("", "Berlin", 0, 0),
        ("", "", 1, 1),
        ("", "A", 0, 0),  # an article alone: nothing would be left of both
        ("a", "A", 0, 1),
        ("b", "A", 0, 0),
        ("", "?", 0, 0),
        ("?", "?", 1, 1),
        ("the", "", 0, 0),
    ],
)
def test_a_reply_is_right_if_it_equals_the_reference(text: str, reference: str, exact: int, loose: int) -> None:
    assert score("exact_match", text, reference) == exact
    assert score("exact_match.loose", text, reference) == loose


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("The capital is Berlin.", "berlin", 1),
        ("BERLINER", "Berlin", 1),
        ("The cafe\u0301", "Café", 1),
        ("Paris", "Berlin", 0),
        ("Berlin", " Berlin\n", 1),
        ("Berlin", "", 0),
        ("Berlin", " ", 0),
        ("", "Berlin", 0),
    ],
)
def test_a_reply_may_contain_the_reference(text: str, reference: str, value: int) -> None:
    assert score("contains", text, reference) == value


@pytest.mark.parametrize(
    ("text", "references", "value"),
    [
        ("lamp, RIVER and stone", ("river", "Lamp"), 1),
        ("lamp and rivers", ("river", "lamp"), 0),  # not inside another word
        ("lamp", ("river", "lamp"), 0),
        ("I use C++.", ("C++",), 1),
        ("I use C++17.", ("C++",), 0),
        ("node_js", ("js",), 0),
        ("lamp", (" lamp ", ""), 1),
        ("a.b", ("axb",), 0),
        ("答案是苹果和香蕉", ("苹果", "香蕉"), 1),  # no spaces between words
        ("答案是苹", ("苹果",), 0),
        ("कि", ("क",), 0),  # a vowel sign is a part of the word
        ("क ख", ("क",), 1),
        ("", ("river",), 0),
    ],
)
def test_every_common_word_must_be_in_the_reply(text: str, references: tuple[str, ...], value: int) -> None:
    assert score("cwe", text, *references) == value


def test_a_reply_without_words_to_look_for_is_not_scored() -> None:
    assert score("cwe", "lamp", "", " ") is None


@pytest.mark.parametrize("name", NAMES)
def test_without_references_nothing_is_scored(name: str) -> None:
    assert score(name, "Berlin") is None


@pytest.mark.parametrize("name", ["exact_match", "exact_match.loose", "contains"])
def test_one_of_several_references_is_enough(name: str) -> None:
    assert score(name, "Berlin", "Bonn", "Berlin") == 1


OLMES = [",", r"\$", r"(?s).*#### ", r"\.$"]


@pytest.mark.parametrize(
    ("text", "reference", "ignore", "value"),
    [
        ("$1,200.", "1200", {"patterns": OLMES}, 1),
        ("She has\n12 left.\n#### 18", "16 - 3 = 13\n#### 18", {"patterns": OLMES}, 1),
        ("3.5", "35", {"patterns": OLMES}, 0),  # without the context they are equal
        ("Rome", "rome", {"patterns": OLMES}, 0),
        ("Rome", "rome", {"case": True}, 1),
        ("Rome!", "Rome", {"punctuation": True}, 1),
        ("the Rome", "Rome", {"case": True, "punctuation": True}, 0),  # articles are not named
        ("Rome 2", "Rome ", {"digits": True}, 1),
        ("Rome", "Rome", {}, 1),
        ("The Rome!", "rome", None, 1),
    ],
)
def test_the_context_may_name_what_is_ignored(text: str, reference: str, ignore: Any, value: int) -> None:
    assert score("exact_match.loose", text, reference, ignore=ignore) == value


@pytest.mark.parametrize("ignore", [{"articles": True}, {"patterns": ","}, {"case": "yes"}])
def test_what_cannot_be_ignored_is_refused(ignore: Any) -> None:
    with pytest.raises(SettingsError, match=r"as 'ignore'; expected a dictionary with any of .patterns., a list"):
        score("exact_match.loose", "Rome", "Rome", ignore=ignore)


def test_a_faulty_pattern_is_refused_with_its_fault() -> None:
    with pytest.raises(
        SettingsError, match=r"sample 's1' ignores the pattern '\(', which is no regular expression: mis"
    ):
        score("exact_match.loose", "Rome", "Rome", ignore={"patterns": ["("]})


@given(text=st.text())
def test_a_text_equals_itself_and_contains_what_it_equals(text: str) -> None:
    assert score("exact_match", text, text) == 1
    assert score("exact_match.loose", text, text) == 1
    assert score("contains", f"so: {text}.", text) == float(bool(text.strip()))
