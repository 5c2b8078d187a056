"""Answers in replies that were cut off: a marked one counts, unless it depends on the last word."""

from __future__ import annotations

import pytest

from pytest_puma.core.conversation import Finish
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample


@pytest.mark.parametrize("finish", ["length", "context"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9 * 2 = 18\n#### 18", 0),  # of 180
        ("9 * 2 = 18\n#### 18\n", 1),
        ("9 * 2 = 18\n#### 18\n\nI ho", 1),
        ("The answer is 18. Sh", 1),
        ("$\\boxed{18}$", 0),
        ("$\\boxed{18}$.\n\nThis", 1),
        ("9 * 2 = 18. Then she adds 3 and", 0),  # no conclusion yet
        ("18", 0),
        ("", 0),
    ],
)
@pytest.mark.parametrize("name", ["number_match", "math_match"])
def test_a_cut_reply_must_mark_its_answer_before_the_last_word(
    text: str, value: int, name: str, finish: Finish
) -> None:
    given = prediction("q", reply=text.strip(), raw=(text,), finish=finish)
    assert LIBRARY[name].score(sample("q", references=("18",)), given) == value


def test_a_complete_reply_needs_no_mark() -> None:
    given = prediction("q", reply="9 * 2 = 18", raw=("9 * 2 = 18",))
    assert LIBRARY["number_match"].score(sample("q", references=("18",)), given) == 1
    assert LIBRARY["number_match"].score(sample("q"), given) is None
