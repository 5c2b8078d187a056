"""chrF and chrF++, against sacrebleu."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sacrebleu.metrics.chrf import CHRF

from pytest_puma.metrics.library.translation import corpus_chrf
from tests.metrics.library.replies import corpus, score
from tests.metrics.library.texts import TEXTS, Corpus, corpora, streams

THEIRS = {"chrf": CHRF(), "chrf_pp": CHRF(word_order=2)}


@given(replies=corpora())
def test_the_chrf_of_a_corpus_is_that_of_sacrebleu(replies: Corpus) -> None:
    for name, theirs in THEIRS.items():
        assert corpus(name, replies) == pytest.approx(theirs.corpus_score(*streams(replies)).score, abs=1e-9), name


@given(text=TEXTS, reference=TEXTS)
def test_the_chrf_of_a_line_is_that_of_sacrebleu(text: str, reference: str) -> None:
    expected = max((THEIRS["chrf"].sentence_score(line, [reference]).score for line in text.splitlines()), default=0)
    assert score("chrf.lines", text, reference) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "reference", "value"), [("cat", "cat", 100), ("cat", "dog", 0), ("", "cat", 0), ("", "", 0)]
)
def test_equal_texts_are_perfect_and_others_share_nothing(text: str, reference: str, value: float) -> None:
    assert corpus("chrf", [(text, [reference])]) == pytest.approx(value, abs=1e-9)
    assert corpus("chrf_pp", [(text, [reference])]) == pytest.approx(value, abs=1e-9)
    assert score("chrf.lines", text, reference) == pytest.approx(value, abs=1e-9)
    assert score("chrf.lines", text, reference) <= 100


def test_recall_counts_more_than_precision() -> None:
    short, long = ("the cat sat on", "the cat sat on the mat all day long and slept well")
    assert corpus("chrf", [(long, [short])]) > corpus("chrf", [(short, [long])])


def test_words_count_in_chrf_pp_alone() -> None:
    replies: Corpus = [("matthe oncat", ["the cat on mat"])]
    assert corpus("chrf", replies) > corpus("chrf_pp", replies) > 0


def test_several_corpora_are_scored_at_once_by_any_weights() -> None:
    one, other = (np.array(score("chrf", text, "the cat sat")) for text in ("the cat", "it was"))
    alone = [float(corpus_chrf(row[None, :])[0]) for row in (one, other, one + other)]
    both = corpus_chrf(np.array([one, other, one + other, 2.5 * one, 0.01 * one, 0 * one]))
    assert both == pytest.approx([*alone, alone[0], alone[0], 0], abs=1e-9)


def test_the_best_line_and_the_best_reference_count() -> None:
    assert score("chrf.lines", "Sure:\n\nthe cat", "a dog", "the cat") == 100
    assert score("chrf.lines", "\n", "the cat") == 0


@pytest.mark.parametrize("name", ["chrf", "chrf_pp", "chrf.lines"])
def test_without_references_nothing_is_scored(name: str) -> None:
    assert score(name, "the cat") is None
