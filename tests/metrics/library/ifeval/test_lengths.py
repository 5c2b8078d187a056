from __future__ import annotations

import pytest

from tests.metrics.library.ifeval.checks import follows


@pytest.mark.parametrize(
    ("reply", "words", "relation", "followed"),
    [
        ("one two three", 3, "at least", True),
        ("one two three", 4, "at least", False),
        ("one two three", 4, "less than", True),
        ("one two three", 3, "less than", False),
        ("well-known", 2, "at least", True),
        ("it's", 2, "at least", True),
        ("snake_case 42", 3, "at least", False),
        ("... !!", 1, "less than", True),
        ("été à Köln", 3, "at least", True),
    ],
)
def test_words_are_runs_of_letters_digits_and_underscores(
    reply: str, words: int, relation: str, *, followed: bool
) -> None:
    assert follows("length_constraints:number_words", reply, num_words=words, relation=relation) is followed


@pytest.mark.parametrize(
    ("reply", "sentences", "relation", "followed"),
    [
        ("One. Two? Three!", 3, "at least", True),
        ("One. Two? Three!", 4, "at least", False),
        ("One. Two? Three!", 4, "less than", True),
        ("One. Two? Three!", 3, "less than", False),
        ("Dr. Lee paid $3.50.", 2, "less than", True),
        ("no full stop", 1, "at least", True),
    ],
)
def test_sentences_are_at_least_or_less_than_as_many(
    reply: str, sentences: int, relation: str, *, followed: bool
) -> None:
    given = {"num_sentences": sentences, "relation": relation}
    assert follows("length_constraints:number_sentences", reply, **given) is followed


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("one\n***\ntwo", True),
        ("one *** two", True),
        ("***\none\n***\ntwo\n***", True),
        (" \n***\none\n***\ntwo\n***\n ", True),
        ("one\n***\n***\ntwo", False),
        ("one", False),
        ("one\n***\ntwo\n***\nthree", False),
        ("one\n\ntwo", False),
        ("one\n***\ntwo\n\nstill two", True),
    ],
)
def test_dividers_stand_between_exactly_as_many_paragraphs(reply: str, *, followed: bool) -> None:
    assert follows("length_constraints:number_paragraphs", reply, num_paragraphs=2) is followed


def test_no_divider_makes_one_paragraph() -> None:
    assert follows("length_constraints:number_paragraphs", "one", num_paragraphs=1)
    assert not follows("length_constraints:number_paragraphs", "***", num_paragraphs=1)


@pytest.mark.parametrize(
    ("reply", "followed"),
    [
        ("First here.\n\nThen there.", True),
        ("First here.\n\nTHEN there.", True),
        ("First here.\n\n\"Then' there.", True),
        ("First here.\n\n'Then,' she said.", True),
        ("First here.\n\nThen. There.", True),
        ("First here.\n\nThence.", False),
        ("Then here.\n\nNow there.", False),
        ("First here.\nThen there.", False),
        ("First.\n\nThen.\n\nAnd.", False),
        ("Then.", False),
        ("First.\n\nThen.\n\n", True),
        ("First.\n\nThen.\n\n \t", True),
        ("First.\n\n\n\nThen.", False),
    ],
)
def test_one_of_exactly_as_many_paragraphs_starts_with_a_word(reply: str, *, followed: bool) -> None:
    given = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"}
    assert follows("length_constraints:nth_paragraph_first_word", reply, **given) is followed


@pytest.mark.parametrize(
    ("paragraph", "word", "followed"),
    [(1, "Xo", True), (2, "two", True), (2, "Xo", False), (3, "two", False)],
)
def test_paragraphs_count_from_one(paragraph: int, word: str, *, followed: bool) -> None:
    given = {"num_paragraphs": 2, "nth_paragraph": paragraph, "first_word": word}
    assert follows("length_constraints:nth_paragraph_first_word", "Xo.\n\nTwo.", **given) is followed


@pytest.mark.parametrize("mark", list(".,?!'\""))
def test_a_first_word_ends_at_a_punctuation_mark(mark: str) -> None:
    given = {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "well"}
    assert follows("length_constraints:nth_paragraph_first_word", f"Well{mark}s then", **given)
    assert not follows("length_constraints:nth_paragraph_first_word", "Well-s then", **given)
