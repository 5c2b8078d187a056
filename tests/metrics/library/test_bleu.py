"""BLEU, against sacrebleu and in the cases where its default is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sacrebleu.metrics.bleu import BLEU

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.translation import corpus_bleu
from tests.metrics.library.replies import corpus, score
from tests.metrics.library.texts import TEXTS, Corpus, corpora, streams

DEFAULT, EFFECTIVE = BLEU(), BLEU(effective_order=True)


@given(replies=corpora())
def test_the_bleu_of_a_corpus_is_that_of_sacrebleu(replies: Corpus) -> None:
    texts, references = streams(replies)
    ours, default = corpus("bleu", replies), DEFAULT.corpus_score(texts, references)
    assert ours == pytest.approx(EFFECTIVE.corpus_score(texts, references).score, abs=1e-9)
    if all(default.totals):
        assert ours == pytest.approx(default.score, abs=1e-9)


@given(text=TEXTS, reference=TEXTS, other=TEXTS)
def test_the_bleu_of_a_sentence_is_that_of_sacrebleu(text: str, reference: str, other: str) -> None:
    ours = score("bleu.sentence", text, reference, other)
    assert ours == pytest.approx(EFFECTIVE.sentence_score(text, [reference, other]).score, abs=1e-9)
    assert corpus("bleu", [(text, [reference, other])]) == pytest.approx(ours, abs=1e-9)


def test_the_bleu_of_a_corpus_is_not_a_mean() -> None:
    replies: Corpus = [("the cat sat on the mat", ["the cat sat on the mat"]), ("a dog", ["some dog ran off then"])]
    mean = sum(score("bleu.sentence", text, *references) for text, references in replies) / 2
    assert corpus("bleu", replies) == pytest.approx(DEFAULT.corpus_score(*streams(replies)).score, abs=1e-9)
    assert abs(corpus("bleu", replies) - mean) > 5


@pytest.mark.parametrize("text", ["the cat ran on it", "a cat sat on my mat", "the mat on it sat", "dog the"])
def test_orders_without_a_match_are_smoothed(text: str) -> None:
    reference = "the cat sat on it"
    expected = EFFECTIVE.sentence_score(text, [reference])
    assert 0 in expected.counts
    assert expected.score > 1
    assert corpus("bleu", [(text, [reference])]) == pytest.approx(expected.score, abs=1e-9)


@pytest.mark.parametrize("text", ["Berlin", "the cat", "the cat sat"])
def test_an_exact_match_of_less_than_four_words_is_perfect(text: str) -> None:
    assert DEFAULT.corpus_score([text], [[text]]).score == 0
    for name in ("bleu.sentence", "bleu.lines"):
        assert score(name, text, text) == 100
    assert corpus("bleu", [(text, [text])]) == 100


@pytest.mark.parametrize("name", ["bleu.sentence", "bleu.lines"])
@pytest.mark.parametrize(("text", "reference"), [("", "the cat"), ("the cat", ""), ("", ""), ("dog", "cat")])
def test_texts_without_a_common_word_have_none(name: str, text: str, reference: str) -> None:
    assert score(name, text, reference) == 0
    assert corpus("bleu", [(text, [reference])]) == 0


def test_the_sums_are_lengths_matches_and_ngrams_by_order() -> None:
    assert score("bleu", "the cat sat on it", "the cat sat", "on it we sat quietly now") == (
        5,
        6,
        5,
        3,
        1,
        0,
        5,
        4,
        3,
        2,
    )


def test_several_corpora_are_scored_at_once_by_any_weights() -> None:
    one, other = (np.array(score("bleu", text, "the cat sat on it")) for text in ("the cat sat on a mat", "it was"))
    both = corpus_bleu(np.array([one, other, one + other, 2.5 * one, 0.25 * one, 0 * one]))
    alone = [float(corpus_bleu(row[None, :])[0]) for row in (one, other, one + other)]
    assert both == pytest.approx([*alone, alone[0], alone[0], 0], abs=1e-9)
    assert alone[0] > alone[2] > alone[1] > 0


def test_each_line_is_compared_and_the_best_one_counts() -> None:
    text = "Sure, here it is:\n\nthe cat sat on the mat\nHope this helps!"
    assert score("bleu.lines", text, "the cat sat on the mat") == 100
    assert score("bleu.sentence", text, "the cat sat on the mat") < 50
    assert score("bleu.lines", text, "a dog ran", "the cat sat on the mat") == 100
    assert score("bleu.lines", " \n", "the cat") == 0


def test_a_copy_of_the_question_is_found() -> None:
    question = "Translate: the cat sat on the mat"
    assert score("copied", question, original=question) == 1
    assert score("copied", "die Katze", original=question) == 0
    expected = EFFECTIVE.sentence_score("the cat sat", [question]).score / 100
    assert score("copied", "the cat sat", original=question) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(
        SettingsError, match=r"^copied: the context of sample 's1' has nothing as 'original'; expected the text"
    ):
        score("copied", "the cat")


@pytest.mark.parametrize("name", ["bleu", "bleu.sentence", "bleu.lines"])
def test_without_references_nothing_is_scored(name: str) -> None:
    assert score(name, "the cat") is None
