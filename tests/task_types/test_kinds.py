"""The kinds of task: what an answer may be, its loss, and the common answer of several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.task_types import KINDS
from pytest_puma.task_types.regression import number_text

LABELS = ("Low", "High", "low-ish")


def test_each_kind_has_a_name_and_a_form() -> None:
    assert {name: kind.form for name, kind in KINDS.items()} == {
        "classification": "labels",
        "regression": "numbers",
        "choice": "choices",
        "completion": "texts",
    }
    assert [name for name, kind in KINDS.items() if kind.closed] == ["classification"]
    assert [name for name, kind in KINDS.items() if kind.graded] == ["regression"]
    assert [name for name, kind in KINDS.items() if kind.scored] == ["completion"]


@pytest.mark.parametrize(
    ("kind", "metrics", "refusal", "naive", "strategies"),
    [
        (
            "classification",
            ("f1_macro", "accuracy"),
            "not_a_label",
            ("majority", "guess", "tfidf"),
            ("zero_shot", "few_shot_3", "contextual_anchoring", "option_scoring"),
        ),
        (
            "regression",
            ("mae", "mae"),
            "not_a_number",
            ("mean", "median", "tfidf"),
            ("zero_shot", "few_shot_3", "contextual_anchoring", "option_scoring"),
        ),
        (
            "choice",
            ("accuracy", "accuracy"),
            "not_a_choice",
            ("first", "longest", "guess", "tfidf"),
            ("zero_shot", "option_scoring", "cloze_scoring"),
        ),
        ("completion", ("", ""), "not_a_text", ("empty", "echo", "majority"), ("zero_shot", "few_shot_3")),
    ],
)
def test_a_kind_declares_its_metrics_its_naive_baselines_and_its_strategies(
    kind: str, metrics: tuple[str, str], refusal: str, naive: tuple[str, ...], strategies: tuple[str, ...]
) -> None:
    declared = KINDS[kind]
    assert (declared.primary_metric, declared.decisive_metric) == metrics
    assert declared.refusal == refusal
    assert (declared.naive_baselines, declared.strategies) == (naive, strategies)


@pytest.mark.parametrize(
    ("kind", "text", "gold"),
    [
        ("classification", "High", "High"),
        ("classification", "HIGH", "High"),
        ("classification", "Medium", None),
        ("classification", "", None),
        ("regression", "3.0", "3"),
        ("regression", "0.50", "0.5"),
        ("regression", "-2", "-2"),
        ("regression", "nan", None),
        ("regression", "inf", None),
        ("regression", "three", None),
        ("choice", "a desk", "a desk"),
        ("choice", "", None),
        ("completion", " any text", " any text"),
        ("completion", "", ""),
    ],
)
def test_a_gold_answer_has_its_standard_spelling(kind: str, text: str, gold: str | None) -> None:
    assert KINDS[kind].gold(text, LABELS) == gold


def test_a_gold_label_with_its_exact_spelling_comes_before_others_of_other_case() -> None:
    assert KINDS["classification"].gold("low", ("Low", "low")) == "low"
    assert KINDS["classification"].gold("LOW", ("Low", "low")) == "Low"


@pytest.mark.parametrize(
    ("kind", "answer", "valid"),
    [
        ("classification", "High", True),
        ("classification", "high", False),
        ("regression", "2.5", True),
        ("regression", "1e3", True),
        ("regression", "nan", False),
        ("regression", "-inf", False),
        ("regression", "two", False),
        ("choice", "High", True),
        ("choice", "high", False),
        ("completion", "x", True),
        ("completion", "", False),
    ],
)
def test_valid_answers(kind: str, answer: str, *, valid: bool) -> None:
    assert KINDS[kind].valid(answer, LABELS) is valid


def test_any_text_is_a_choice_if_the_choices_are_unknown() -> None:
    assert KINDS["choice"].valid("High", ())


@pytest.mark.parametrize(
    ("kind", "labels", "text"),
    [
        ("classification", LABELS, "one of Low, High, low-ish"),
        ("regression", LABELS, "a finite number"),
        ("choice", LABELS, "one of Low, High, low-ish"),
        ("choice", (), "one of the choices"),
        ("completion", (), "a text that is not empty"),
    ],
)
def test_what_is_expected(kind: str, labels: tuple[str, ...], text: str) -> None:
    assert KINDS[kind].expected(labels) == text


@pytest.mark.parametrize(
    ("kind", "answer", "golds", "loss"),
    [
        ("classification", "Low", ("Low",), 0.0),
        ("classification", "low", ("Low",), 1.0),
        ("choice", "b", ("a", "b"), 0.0),
        ("choice", "c", ("a", "b"), 1.0),
        ("regression", "5", ("3",), 2.0),
        ("regression", "1", ("3",), 2.0),
        ("regression", "5", ("3", "4.5"), 0.5),
    ],
)
def test_the_loss_of_an_answer(kind: str, answer: str, golds: tuple[str, ...], loss: float) -> None:
    assert KINDS[kind].loss(answer, golds) == loss


def test_a_text_has_no_loss_without_a_metric() -> None:
    with pytest.raises(NotImplementedError):
        KINDS["completion"].loss("a", ("a",))


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("classification", "high", "High"),
        ("classification", "high.", None),
        ("choice", "LOW", "Low"),
        ("choice", "is low", None),
        ("regression", "3", "3"),
        ("regression", "-3.25", "-3.25"),
        ("regression", "3.", None),
        ("regression", "about 3", None),
        ("completion", "any", "any"),
        ("completion", "", None),
    ],
)
def test_a_text_that_is_nothing_but_an_answer(kind: str, text: str, answer: str | None) -> None:
    assert KINDS[kind].bare(text, LABELS) == answer


@pytest.mark.parametrize("kind", ["classification", "choice", "completion"])
def test_the_most_probable_answer_is_chosen_and_the_first_of_equal_ones(kind: str) -> None:
    assert KINDS[kind].choose({"a": 0.2, "b": 0.5, "c": 0.3}) == "b"
    assert KINDS[kind].choose({"a": 0.2, "b": 0.4, "c": 0.4}) == "b"


@pytest.mark.parametrize(
    ("probabilities", "value"),
    [
        ({"1": 0.4, "2": 0.2, "5": 0.4}, "2"),
        ({"5": 0.4, "1": 0.4, "2": 0.2}, "2"),
        ({"1": 0.5, "10": 0.5}, "1"),
        ({"1": 0.49, "10": 0.51}, "10"),
        ({"10": 0.2, "9": 0.8}, "9"),
    ],
)
def test_the_lower_median_of_numbers_is_chosen(probabilities: dict[str, float], value: str) -> None:
    assert KINDS["regression"].choose(probabilities) == value


@pytest.mark.parametrize("kind", ["classification", "choice"])
def test_the_most_frequent_label_wins_with_the_shares_of_all(kind: str) -> None:
    answer, shares = KINDS[kind].vote(["Low", "High", "Low", "Low"], LABELS, 5)
    assert answer == "Low"
    assert shares == {"Low": 0.75, "High": 0.25, "low-ish": 0.0}


@pytest.mark.parametrize("kind", ["classification", "choice", "completion"])
def test_a_tie_is_broken_by_its_seed(kind: str) -> None:
    votes = ["High", "Low", "Low", "High", "low-ish"]
    winners = [KINDS[kind].vote(votes, LABELS, tie)[0] for tie in range(4)]
    assert set(winners) == {"Low", "High"}
    assert winners[:2] == winners[2:]


@given(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9), st.integers(0, 2**63))
def test_the_answer_of_a_vote_has_the_largest_share(votes: list[str], tie: int) -> None:
    answer, shares = KINDS["classification"].vote(votes, LABELS, tie)
    assert shares is not None
    assert shares[answer] == max(shares.values())
    assert sum(shares.values()) == pytest.approx(1)


def test_a_vote_of_texts_has_no_shares() -> None:
    assert KINDS["completion"].vote(["a", "b", "b"], (), 3) == ("b", None)


@pytest.mark.parametrize(("votes", "value"), [(["1", "5", "2"], "2"), (["1", "2"], "1.5"), (["3", "3.0"], "3")])
def test_a_vote_of_numbers_is_their_median(votes: list[str], value: str) -> None:
    assert KINDS["regression"].vote(votes, (), 0) == (value, None)


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (0.5, "0.5"), (-2.0, "-2"), (1e20, "100000000000000000000")])
def test_a_number_is_written_as_by_a_person(value: float, text: str) -> None:
    assert number_text(value) == text
