"""TER, against sacrebleu."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sacrebleu.metrics.ter import TER

from pytest_puma.metrics.library.translation import corpus_ter
from tests.metrics.library.replies import corpus, score
from tests.metrics.library.texts import TEXTS, Corpus, corpora, streams

THEIRS = TER()


@given(replies=corpora())
def test_the_ter_of_a_corpus_is_that_of_sacrebleu(replies: Corpus) -> None:
    assert corpus("ter", replies) == pytest.approx(THEIRS.corpus_score(*streams(replies)).score, abs=1e-9)


@given(text=TEXTS, reference=TEXTS)
def test_the_ter_of_a_line_is_that_of_sacrebleu(text: str, reference: str) -> None:
    lines = [line for line in text.splitlines() if line.strip()]
    expected = min((THEIRS.sentence_score(line, [reference]).score for line in lines), default=100)
    assert score("ter.lines", text, reference) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("the cat", "the cat", 0),
        ("", "the cat", 100),  # both words are missing
        ("the cat sat on it", "cat", 400),  # no upper limit
        ("the dog", "the cat", 50),
        ("", "", 0),
        ("cat", "", 100),
        ("sat the cat", "the cat sat", 100 / 3),  # one shift
        ("The Cat", "the cat", 0),
    ],
)
def test_edits_are_a_percentage_of_the_words_of_the_reference(text: str, reference: str, value: float) -> None:
    assert corpus("ter", [(text, [reference])]) == pytest.approx(value, abs=1e-9)


def test_the_fewest_edits_of_all_references_count_for_their_mean_length() -> None:
    assert score("ter", "the cat", "the cat sat", "the dog sat on it") == (1, 4)


@pytest.mark.parametrize(("number", "edits"), [(996, 997), (997, 999)])
def test_the_words_of_a_reply_of_over_a_thousand_are_not_shifted(number: int, edits: int) -> None:
    # Two pairs of words the other way round are one edit by a shift, else two.
    assert score("ter", " ".join(["c", "d", "a", "b", *["x"] * number]), "a b c d") == (edits, 4)


def test_several_corpora_are_scored_at_once_by_any_weights() -> None:
    rows = [(1, 4), (3, 4), (0, 4), (0, 0), (2, 0), (0.25, 0.5)]
    assert corpus_ter(np.array(rows, dtype=np.float64)) == pytest.approx([25, 75, 0, 0, 100, 50])


def test_the_best_line_and_the_best_reference_count() -> None:
    assert score("ter.lines", "Sure, here it is:\n\nthe cat", "a dog", "the cat") == 0
    assert score("ter.lines", " \n", "the cat") == 100


@pytest.mark.parametrize("name", ["ter", "ter.lines"])
def test_without_references_nothing_is_scored(name: str) -> None:
    assert score(name, "the cat") is None
