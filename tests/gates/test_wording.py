"""The words for changed answers."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import Decline
from pytest_puma.core.change import Spread
from pytest_puma.gates.wording import moved
from tests.factories import change


@pytest.mark.parametrize(
    ("fields", "other", "words"),
    [
        ({}, "baseline", "2 of 6 answers went from right to wrong, 4 the other way"),
        ({}, "zero_shot", "2 of 6 answers are wrong where it is right, 4 the other way"),
        ({"graded": True}, "baseline", "2 of 6 answers got a larger error, 4 a smaller one"),
        ({"scored": True}, "baseline", "2 of 6 scores are worse, 4 better"),
        ({"several": True}, "baseline", "2 of 6 questions got fewer right answers, 4 more"),
        ({"several": True}, "zero_shot", "2 of 6 questions have fewer right answers, 4 more"),
        ({"several": True, "graded": True}, "baseline", "2 of 6 questions got larger errors, 4 smaller ones"),
        ({"several": True, "scored": True}, "baseline", "2 of 6 questions got worse scores, 4 better ones"),
    ],
)
def test_the_words_are_about_questions_if_these_have_several_trials(
    fields: dict[str, Any], other: str, words: str
) -> None:
    assert moved(change(n=6, worse=2, better=4, **fields), other=other) == words
    if "scored" not in fields and other == "baseline":
        assert moved(Decline(n=6, worse=2, better=4, p=0.5, spread=Spread(n=6, moved=1.0), **fields)) == words
