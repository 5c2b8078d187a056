"""The reply of the highest mean log-probability per token, of several that are sampled at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Answer, DataError, Generation, Response, SettingsError
from pytest_puma.strategies import failure_of, parse_strategy, resolve_generation
from pytest_puma.strategies.conversations import best_of
from tests.strategies.play import OVERFLOW, play, task


def reply(text: str, *logprobs: float) -> Response:
    return Response(text=text, logprobs=logprobs)


def answered(root: Path, *replies: Response) -> Answer:
    return play(best_of(task(root), answers=len(replies)), replies).answer


def test_all_replies_are_asked_at_once_with_their_log_probabilities(tmp_path: Path) -> None:
    played = play(best_of(task(tmp_path), answers=3), (reply("", -1), reply("", -2), reply("", -3)))
    assert len(played.rounds) == 1
    assert all(request.logprobs for request in played.generates)
    assert len({request.seed for request in played.generates}) == 3
    assert len({request.prompt for request in played.generates}) == 1


def test_the_first_replies_are_those_of_a_smaller_number(tmp_path: Path) -> None:
    few = play(best_of(task(tmp_path), answers=2), (reply("", -1),) * 2).generates
    many = play(best_of(task(tmp_path), answers=4), (reply("", -1),) * 4).generates
    assert many[:2] == few


@pytest.mark.parametrize(
    ("replies", "best"),
    [
        ((("SWEET", -1.0), ("SOUR", -0.5)), "SOUR"),
        # The sum would choose the shorter one.
        ((("SWEET", -0.9), ("SOUR", -0.5, -0.5, -0.5)), "SOUR"),
        ((("SWEET", -0.5), ("SOUR", -0.5)), "SWEET"),
        ((("SWEET", -float("inf")), ("SOUR", -9.0)), "SOUR"),
    ],
)
def test_the_highest_mean_wins_and_the_first_of_equal_ones(
    tmp_path: Path, replies: tuple[tuple[str, float], ...], best: str
) -> None:
    sent = tuple(reply(text, *logprobs) for text, *logprobs in replies)
    answer = answered(tmp_path, *sent)
    assert answer.value == best
    assert [response.text for response in answer.responses] == [best]


def test_a_probable_reply_without_an_answer_is_a_parse_failure_of_its_own_cause(tmp_path: Path) -> None:
    sent = (reply("no idea", -0.1), reply("SOUR", -1.0), reply("SOUR", -2.0))
    question, answer = task(tmp_path), answered(tmp_path, *sent)
    assert answer.value is None
    failure = failure_of(question, answer, sent, final_line=False)
    assert failure is not None
    assert failure.cause == "unparsed"


def test_an_overflow_is_no_answer(tmp_path: Path) -> None:
    assert answered(tmp_path, OVERFLOW, OVERFLOW).responses == (OVERFLOW,)


def test_texts_alone_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="sample 'f1': best_of compares replies by the log-probabilities"):
        answered(tmp_path, reply("SOUR"), reply("SWEET"))


def test_greedy_replies_would_all_be_equal() -> None:
    strategy = parse_strategy("best-of-8")
    assert (strategy.name, strategy.templates) == ("best_of_8", ("best_of_8", "best_of", "zero_shot"))
    assert resolve_generation(strategy, Generation()).temperature == 0.7
    with pytest.raises(SettingsError, match="best_of_8: temperature is 0"):
        resolve_generation(strategy, Generation(temperature=0))
