from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_puma.core import Answer
from pytest_puma.strategies import Task
from pytest_puma.strategies.conversations import self_consistency
from tests.strategies.play import OVERFLOW, Weight, play, responses, task


def _voted(question: Task, values: tuple[str, ...]) -> Answer:
    replies = responses(*(f"Answer: {value}" for value in values))
    return play(self_consistency(question, answers=len(values)), replies).answer


def vote(root: Path, *values: str, sample_id: str = "f1", seed: int = 42) -> Answer:
    return _voted(task(root, sample_id=sample_id, seed=seed), values)


def median(root: Path, *values: str) -> Answer:
    return _voted(task(root, scenario=Weight()), values)


def test_all_answers_are_asked_at_once_and_differ_only_in_their_seed(tmp_path: Path) -> None:
    question = task(tmp_path)
    played = play(self_consistency(question, answers=4), responses("", "", "", ""))
    assert played.rounds == (tuple(question.generate(question.prompt(), index=index) for index in range(4)),)
    assert len({request.seed for request in played.generates}) == 4


def test_the_first_answers_are_those_of_a_smaller_vote(tmp_path: Path) -> None:
    few = play(self_consistency(task(tmp_path), answers=2), responses("", "")).generates
    many = play(self_consistency(task(tmp_path), answers=5), responses("", "", "", "", "")).generates
    assert many[:2] == few


def test_the_majority_wins(tmp_path: Path) -> None:
    answer = vote(tmp_path, "SWEET", "SOUR", "BITTER", "SOUR", "SOUR")
    assert answer.value == "SOUR"
    assert answer.probabilities == {"SWEET": 0.2, "SOUR": 0.6, "BITTER": 0.2}
    assert len(answer.responses) == 5


def test_unreadable_answers_do_not_vote(tmp_path: Path) -> None:
    answer = vote(tmp_path, "SALTY", "SALTY", "SALTY", "SOUR", "none")
    assert answer.value == "SOUR"
    assert answer.probabilities == {"SWEET": 0.0, "SOUR": 1.0, "BITTER": 0.0}


def test_without_a_readable_answer_there_is_none(tmp_path: Path) -> None:
    answer = vote(tmp_path, "SALTY", "none")
    assert answer.value is None
    assert answer.probabilities is None


def test_a_tie_is_drawn_among_the_tied_without_favour(tmp_path: Path) -> None:
    votes = ("SWEET", "BITTER", "SOUR", "BITTER", "SWEET")
    samples = Counter(vote(tmp_path, *votes, sample_id=f"f{number}").value for number in range(200))
    assert samples.keys() == {"SWEET", "BITTER"}
    assert min(samples.values()) > 70


def test_a_tie_is_drawn_alike_every_time_and_in_any_order_of_votes(tmp_path: Path) -> None:
    for number in range(20):
        first = vote(tmp_path, "SWEET", "SOUR", sample_id=f"f{number}")
        assert vote(tmp_path, "SOUR", "SWEET", sample_id=f"f{number}").value == first.value


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        (("3", "8", "5"), "5"),
        (("3", "3", "100", "1", "5"), "3"),
        (("3", "4"), "3.5"),
        (("2", "8", "many"), "5"),
        (("0.5", "0.5", "x"), "0.5"),
        (("1000000", "1000001", "1000001"), "1000001"),
    ],
)
def test_the_median_of_the_readable_numbers_wins(tmp_path: Path, values: tuple[str, ...], middle: str) -> None:
    answer = median(tmp_path, *values)
    assert answer.value == middle
    assert answer.probabilities is None


def test_an_overflow_of_all_is_no_answer(tmp_path: Path) -> None:
    played = play(self_consistency(task(tmp_path), answers=2), (OVERFLOW, OVERFLOW))
    assert played.answer.value is None
    assert played.answer.responses == (OVERFLOW, OVERFLOW)
