"""F1 of the words that a reply shares with a reference."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.library.replies import score

WORDS = st.lists(st.sampled_from(["the", "cat", "Sat", "a", "mat.", "on", "—"]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("text", "reference", "words", "squad"),
    [
        ("the cat sat", "a cat sat down", 4 / 7, 4 / 5),
        ("Cat", "cat", 1, 1),
        ("cat.", "cat", 0, 1),
        ("the", "the cat", 2 / 3, 0),  # no word is left of the reply alone
        ("the cat", "the", 2 / 3, 0),
        ("cat cat", "cat", 2 / 3, 2 / 3),  # the second one is in no reference
        ("cat", "cat cat dog", 1 / 2, 1 / 2),
        ("sat cat", "cat sat", 1, 1),
        ("", "cat", 0, 0),
        ("cat", "", 0, 0),
        ("", "", 1, 1),
        ("", "The", 0, 0),  # nothing is left of both, but an empty reply is no answer
        ("the", "The", 1, 1),
        ("a", "The", 0, 0),
    ],
)
def test_words_are_shared(text: str, reference: str, words: float, squad: float) -> None:
    assert score("f1_words", text, reference) == pytest.approx(words, abs=1e-12)
    assert score("f1_squad", text, reference) == pytest.approx(squad, abs=1e-12)


@pytest.mark.parametrize("name", ["f1_words", "f1_squad"])
def test_the_best_reference_counts(name: str) -> None:
    assert score(name, "dog", "cat", "dog house", "dog") == 1
    assert score(name, "dog") is None


@given(text=WORDS, reference=WORDS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(text: str, reference: str) -> None:
    words, wanted = text.lower().split(), reference.lower().split()
    shared = sum((Counter(words) & Counter(wanted)).values())
    value = score("f1_words", text, reference)
    if shared:
        precision, recall = shared / len(words), shared / len(wanted)
        assert value == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)
    else:
        assert value == float(not words and not wanted)
