from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Likelihood, Prediction, Sample
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample
from tests.metrics.library.choices import likelihoods, log_probabilities, question, questions_and_totals, score, scored

NAMES = [
    f"{name}{suffix}"
    for name in ("bits_per_byte", "perplexity", "byte_perplexity", "word_perplexity")
    for suffix in ("", ".corpus")
]
#: Texts of words, with their log-probabilities and tokens.
rows_of_words = st.lists(
    st.tuples(
        st.lists(st.text("ab\u00e9\u65e5", min_size=1), min_size=1).map(" ".join), log_probabilities, st.integers(1, 9)
    ),
    min_size=1,
)


def text(reference: str, total: float, tokens: int = 1) -> tuple[Sample, Prediction]:
    likelihood = Likelihood(total=total, end=-9.0, tokens=tokens, greedy=True)
    return sample("q", references=(reference, "other")), prediction("q", likelihoods=(likelihood, *likelihoods([-1.0])))


def pooled(name: str, rows: list[tuple[Sample, Prediction]]) -> float:
    pool = LIBRARY[name].pool
    assert pool is not None
    return float(pool.combine(np.sum([score(name, *row) for row in rows], axis=0)[None])[0])


@given(questions_and_totals())
def test_bits_per_byte_are_those_of_the_first_right_choice(drawn: tuple[Sample, list[float]]) -> None:
    asked_sample, totals = drawn
    place = next(place for place, choice in enumerate(asked_sample.choices) if choice.right)
    size = len(asked_sample.choices[place].text.encode())
    expected = -totals[place] / (size * math.log(2))
    assert score("bits_per_byte", asked_sample, scored(totals)) == pytest.approx(expected)


def test_bits_per_byte_count_bytes_not_characters() -> None:
    assert score("bits_per_byte", *text("日本", -6 * math.log(2))) == pytest.approx(1)


def test_bits_of_an_ending_behind_the_choices_are_divided_by_its_own_bytes() -> None:
    answered = scored((-4 * math.log(2), -1.0), continuations=((" fell.",), (" fell.",)))
    assert score("bits_per_byte", question(("a long name", "b")), answered) == pytest.approx(4 / 5)


def test_bytes_per_token_are_those_of_all_texts_together() -> None:
    # 6 + 6 bytes in 2 + 1 tokens; the mean of 3 and 6 would be 4.5.
    assert pooled("bytes_per_token", [text("Berlin", -1.0, tokens=2), text("日本", -1.0, tokens=1)]) == 4
    assert score("bytes_per_token", sample("q"), prediction("q", likelihoods=())) is None


def test_perplexity_is_per_token_of_the_first_reference() -> None:
    assert score("perplexity", *text("Berlin", -6.0, tokens=3)) == pytest.approx(math.exp(2))


@given(st.lists(st.tuples(st.text(min_size=1, max_size=9), log_probabilities, st.integers(1, 9)), min_size=1))
def test_a_corpus_has_the_ratio_of_its_sums(rows: list[tuple[str, float, int]]) -> None:
    made = [text(*row) for row in rows]
    nats = -math.fsum(total for _, total, _ in rows)
    size, tokens = sum(len(reference.encode()) for reference, _, _ in rows), sum(count for _, _, count in rows)
    # The formulas of lm-evaluation-harness: -sum / (bytes * log 2), and exp(-sum / tokens).
    assert pooled("bits_per_byte.corpus", made) == pytest.approx(nats / (size * math.log(2)))
    assert pooled("perplexity.corpus", made) == pytest.approx(math.exp(min(200, nats / tokens)))


@given(rows_of_words)
def test_perplexities_equal_the_formulas_of_lm_evaluation_harness(rows: list[tuple[str, float, int]]) -> None:
    made = [text(*row) for row in rows]
    sums = [total for _, total, _ in rows]
    for name, lengths in (
        ("word_perplexity", [len(re.split(r"\s+", reference)) for reference, _, _ in rows]),
        ("byte_perplexity", [len(reference.encode("utf-8")) for reference, _, _ in rows]),
        ("perplexity", [tokens for _, _, tokens in rows]),
    ):
        # weighted_perplexity: exp of minus the weighted mean.
        assert pooled(f"{name}.corpus", made) == pytest.approx(math.exp(min(200, -sum(sums) / sum(lengths))))
        for row, total, length in zip(made, sums, lengths, strict=True):
            assert score(name, *row) == pytest.approx(math.exp(min(200, -total / length)))
    # bits_per_byte is the binary logarithm of byte_perplexity.
    bits = pooled("bits_per_byte.corpus", made)
    assert pooled("byte_perplexity.corpus", made) == pytest.approx(2 ** min(bits, 200 / math.log(2)))


def test_words_are_separated_by_any_white_space() -> None:
    assert score("word_perplexity", *text(" two\n words ", -4.0)) == pytest.approx(math.exp(2))
    assert score("word_perplexity", *text(" \n", -4.0)) is None
    assert score("word_perplexity.corpus", *text("two words", -4.0)) == (4, 2)


def test_a_corpus_is_no_mean_of_texts() -> None:
    rows = [text("a", -1.0), text("bcd", -9.0)]
    assert pooled("bits_per_byte.corpus", rows) == pytest.approx(10 / 4 / math.log(2))
    assert np.mean([score("bits_per_byte", *row) for row in rows]) == pytest.approx(2 / math.log(2))


@pytest.mark.parametrize("name", [name for name in NAMES if "perplexity" in name])
def test_the_perplexity_of_an_impossible_token_is_finite(name: str) -> None:
    row = text("x", -800.0)
    value = pooled(name, [row]) if name.endswith("corpus") else score(name, *row)
    assert value == pytest.approx(math.exp(200))


@pytest.mark.parametrize("name", NAMES)
def test_without_a_ground_truth_there_is_nothing_to_predict(name: str) -> None:
    answered = scored((-1.0, -2.0))
    assert score(name, sample("q"), answered) is None
    assert score(name, question(("a", "b"), right=()), answered) is None


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_ground_truth_has_no_bytes_and_no_tokens(name: str) -> None:
    assert score(name, *text("", -1.0, tokens=0)) is None


@pytest.mark.parametrize("name", NAMES)
def test_low_values_without_a_maximum_are_better(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds) == ("low", None)
    assert metric.needs == {"likelihoods"}
    assert metric.kinds == {"choice", "completion"}
    assert metric.unit == ("bits/byte" if name.startswith("bits") else "")
    assert (metric.pool is not None) == name.endswith("corpus")


def test_sums_of_nothing_have_no_ratio() -> None:
    for name in NAMES[1::2]:
        pool = LIBRARY[name].pool
        assert pool is not None
        assert math.isnan(pool.combine(np.zeros((1, 2)))[0])
