"""ROUGE, against the package rouge-score and in the cases where that one is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer

from pytest_puma.metrics.library.overlap import common_subsequence, words
from tests.metrics.library.replies import score

#: Our name of each type of rouge-score.
TYPES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
NAMES = (*TYPES, "rouge_geo")
ASCII = st.lists(
    st.sampled_from(["the", "The", "cat", "sat", "on", "mat.", "don't", "x-ray", "7", "\n", "!", "_a_"]), max_size=14
).map(" ".join)
UNICODE = st.text(
    st.sampled_from("ab \n.'éßÅİ\u0301中文かなहिन्दी।กำไรاللُّغة") | st.characters(codec="utf-8"), max_size=24
)


class OurWords(Tokenizer):  # type: ignore[misc]
    """Our words in rouge-score, which has none but ASCII."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


def reference_scorer(tokenizer: Tokenizer | None = None) -> Callable[[str, str, str], float]:
    scorer = RougeScorer([*TYPES.values()], tokenizer=tokenizer)

    def f1(name: str, text: str, reference: str) -> float:
        return float(scorer.score(reference, text)[TYPES[name]].fmeasure)

    return f1


IN_ASCII, IN_UNICODE = reference_scorer(), reference_scorer(OurWords())


@given(text=ASCII, reference=ASCII)
def test_english_texts_score_as_in_rouge_score(text: str, reference: str) -> None:
    if text.strip() or reference.strip():
        for name in TYPES:
            assert score(name, text, reference) == pytest.approx(IN_ASCII(name, text, reference), abs=1e-12), name


@given(text=UNICODE, reference=UNICODE)
def test_texts_of_any_script_score_as_in_rouge_score_of_the_same_words(text: str, reference: str) -> None:
    if text.strip() or reference.strip():
        for name in TYPES:
            assert score(name, text, reference) == pytest.approx(IN_UNICODE(name, text, reference), abs=1e-12), name


@given(references=st.lists(ASCII, min_size=1, max_size=4), text=ASCII)
def test_the_best_of_several_references_counts(references: list[str], text: str) -> None:
    for name in NAMES:
        assert score(name, text, *references) == max(score(name, text, each) for each in references)


def test_long_texts_score_as_in_rouge_score() -> None:
    chosen = random.Random(7)  # noqa: S311 - reproducible
    vocabulary = [f"word{number}" for number in range(60)]
    for _ in range(20):
        text, reference = (" ".join(chosen.choices(vocabulary, k=chosen.randrange(150, 260))) for _ in range(2))
        for name in TYPES:
            assert score(name, text, reference) == pytest.approx(IN_ASCII(name, text, reference), abs=1e-12)


def test_of_several_common_subsequences_that_of_rouge_score_counts() -> None:
    chosen = random.Random(8)  # noqa: S311 - reproducible
    for _ in range(300):
        text, reference = (
            "\n".join(" ".join(chosen.choices("abcd", k=chosen.randrange(1, 8))) for _ in range(3)) for _ in range(2)
        )
        value = score("rouge_lsum", text, reference)
        assert value == pytest.approx(IN_ASCII("rouge_lsum", text, reference), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [("", "", 1), (" \n", "", 1), ("", "cat", 0), ("cat", "", 0), ("!", "", 0), ("", "!", 0), ("!", "?", 0)],
)
def test_texts_without_words_are_equal_only_if_both_are_empty(name: str, text: str, reference: str, value: int) -> None:
    assert score(name, text, reference) == value


@pytest.mark.parametrize(("text", "reference"), [("Paris", "Berlin"), ("Paris", "Paris")])
def test_one_word_has_no_bigram_to_share(text: str, reference: str) -> None:
    assert score("rouge_2", text, reference) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the cat sat", (1.0, 1.0, 1.0, 1.0)),
        ("the cat", (4 / 5, 2 / 3, 4 / 5, (4 / 5 * 2 / 3 * 4 / 5) ** (1 / 3))),
        ("sat cat the", (1.0, 0.0, 1 / 3, 0.0)),
        ("dog", (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_the_geometric_mean_is_that_of_the_three(text: str, value: Sequence[float]) -> None:
    names = ("rouge_1", "rouge_2", "rouge_l", "rouge_geo")
    assert [score(name, text, "The cat sat.") for name in names] == pytest.approx(value, abs=1e-12)


def test_the_geometric_mean_takes_all_three_from_the_same_reference() -> None:
    references = ("the cat", "sat the dog the cat")
    assert score("rouge_geo", "the cat sat", *references) == max(
        score("rouge_geo", "the cat sat", each) for each in references
    )


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        # Sentences in another order: as one sequence only two of four words are common.
        ("a b\nc d", "c d\na b", 1.0),
        ("a b", "a\nb", 1.0),
        # A word of two sentences of the reference is shared as often as the reply has it.
        ("a x", "a y\na z", 2 / 6),
        ("a a", "a\na", 1.0),
    ],
)
def test_a_summary_is_compared_sentence_by_sentence(text: str, reference: str, value: float) -> None:
    assert score("rouge_lsum", text, reference) == pytest.approx(value, abs=1e-12)


def test_a_sequence_is_not_split_into_sentences() -> None:
    assert score("rouge_l", "a b\nc d", "c d\na b") == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop_now 3.5", ["don", "t", "stop", "now", "3", "5"]),
        ("Crème brûlée", ["crème", "brûlée"]),
        ("cre\u0300me", ["cre\u0300me"]),
        ("中文 kana かな", ["中", "文", "kana", "か", "な"]),
        ("हिन्दी।", ["हिन्दी"]),
        ("ไม่มี", ["ไม่มี"]),
        ("日本x", ["日", "本", "x"]),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_of_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(left=st.text("abcd", max_size=12), right=st.text("abcd", max_size=12))
def test_the_common_subsequence_is_that_of_the_usual_table(left: str, right: str) -> None:
    above = [0] * (len(right) + 1)
    for one in left:
        row = [0]
        for column, other in enumerate(right):
            row.append(above[column] + 1 if one == other else max(row[-1], above[column + 1]))
        above = row
    assert common_subsequence(left, right) == above[-1]


@pytest.mark.parametrize("name", NAMES)
def test_without_references_nothing_is_scored(name: str) -> None:
    assert score(name, "the cat") is None
