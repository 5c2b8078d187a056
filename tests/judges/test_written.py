"""Verdicts of a judge that cannot score: the text that it writes counts."""

from __future__ import annotations

import pytest

from pytest_puma.core import Message, Prompt, Response, Score
from pytest_puma.judges.scale import PAIR, YES_NO, VerdictScale, grades
from pytest_puma.judges.written import WrittenVerdicts
from pytest_puma.testing import Engine, ScriptedBackend

FIVE = grades(1, 5)


@pytest.mark.parametrize(
    ("scale", "text", "value"),
    [
        (YES_NO, "yes", 1.0),
        (YES_NO, " **No**\n\nIt is rude.", 0.0),
        (YES_NO, "<think>Yes", None),
        (PAIR, "A better reply is B.", None),
        (FIVE, "4", 4.0),
    ],
)
def test_a_written_verdict_is_the_answer_that_the_reply_states(
    scale: VerdictScale, text: str, value: float | None
) -> None:
    judge = WrittenVerdicts(Engine(ScriptedBackend({}, default=text)))
    prompt = Prompt(messages=(Message(role="user", content="Your verdict?"),))
    judge.begin("cell", {})
    (ticket,) = judge.submit_all([Score(prompt=prompt, continuations=scale.shown("en"))])
    responses: dict[int, Response] = {}
    while not responses:
        responses = judge.step()
    assert scale.value(responses[ticket].logprobs) == value
