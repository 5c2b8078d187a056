"""DROP: bags of words, pairs of spans, numbers; values by hand, after the definition of Dua et al. (2019)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import SettingsError
from pytest_puma.metrics.library.drop import drop_f1, spans
from tests.metrics.library.replies import score

WORDS = st.lists(st.sampled_from(["red", "blue", "5", "5.0", "12", "the"]), min_size=1)
SPANS = st.lists(WORDS.map(" ".join), min_size=1)


@pytest.mark.parametrize(
    ("text", "answers", "f1", "exact"),
    [
        ("Milan, Rome", [["Rome", "Milan"]], 1, 1),
        ("The Milan!", [["milan"]], 1, 1),
        ("12 yards", [["12"]], 0.67, 0),  # precision 1/2, recall 1
        ("12", [["12.0"]], 1, 1),
        ("13 yards", [["12 yards"]], 0, 0),  # the number is wrong
        ("12, 13", [["12 13"]], 1, 1),  # the reply as one span
        ("13, 12", [["12 13"]], 1, 0),  # whose order of words is no matter of F1
        ("the Milan team, 3 goals", [["Milan", "3"]], 0.67, 0),
        ("Rome", [["Rome", "Milan"]], 0.5, 0),  # one span has no partner
        ("Rome, Milan, Turin", [["Rome", "Milan"]], 0.67, 0),
        ("a b c", [["a b d e"]], 0.4, 0),  # without the article: {b, c} and {b, d, e}
        ("Turin", [["Rome"], ["Turin"]], 1, 1),
        ("half-back", [["half back"]], 1, 1),
        ("$1,200", [["1200"]], 1, 1),  # the comma of thousands separates no spans
        ("1,200 yards, 300 yards", [["1200 yards", "300 yards"]], 1, 1),
        ("Washington, D.C.", [["Washington, D.C."]], 1, 1),  # the comma of a name
        ("", [["A"]], 0, 0),  # nothing is left of the article, but an empty reply is no answer
        ("A", [["A"]], 1, 1),
        ("", [["Rome"]], 0, 0),
        ("Rome, Rome, Milan", [["Rome", "Milan"]], 0.67, 0),
    ],
)
def test_spans_are_bags_of_words_in_the_best_pairs(text: str, answers: Any, f1: float, exact: int) -> None:
    assert score("drop.f1", text, answers=answers) == pytest.approx(f1)
    assert score("drop.exact", text, answers=answers) == exact


def test_without_the_context_the_references_are_split_at_commas() -> None:
    assert score("drop.f1", "Milan, Rome", "Turin", "Rome, Milan") == 1
    assert score("drop.exact", "Milan", "Rome, Milan") == 0


@pytest.mark.parametrize("name", ["drop.f1", "drop.exact"])
def test_a_sample_without_an_answer_is_not_scored(name: str) -> None:
    assert score(name, "Rome") is None
    assert score(name, "Rome", answers=[[], [""]]) is None


def test_answers_that_are_no_lists_of_spans_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"drop\.f1: .* has \['Rome'\] as 'answers'; expected a list of answers"):
        score("drop.f1", "Rome", answers=["Rome"])


@given(found=SPANS, answer=SPANS)
def test_no_other_pairs_of_spans_have_a_higher_f1(found: list[str], answer: list[str]) -> None:
    found, answer = found[:4], answer[:4]
    size = max(len(found), len(answer))
    long, short = (found, answer) if len(found) >= len(answer) else (answer, found)
    best = max(
        sum(
            drop_f1([left], [right]) if long is found else drop_f1([right], [left])
            for left, right in zip(order, short, strict=False)
        )
        for order in permutations(long, len(short))
    )
    assert drop_f1(found, answer) == pytest.approx(best / size, abs=0.02)  # both are rounded


@given(st.lists(st.text("ab1 ", min_size=1).filter(str.strip), min_size=1))
def test_spans_are_what_stands_between_commas(parts: list[str]) -> None:
    assert spans(", ".join(parts)) == [part.strip() for part in parts]
