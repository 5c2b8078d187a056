"""Verdicts that a judge writes: which replies are one of the answers, and which are unreadable."""

from __future__ import annotations

import pytest

from pytest_puma.core import Message, Prompt, Response, Score
from pytest_puma.judges.scale import PAIR, YES_NO, VerdictScale, grades
from pytest_puma.judges.written import WrittenVerdicts
from pytest_puma.testing import Engine, ScriptedBackend

FIVE, TEN = grades(1, 5), grades(1, 10)


@pytest.mark.parametrize(
    ("scale", "text", "value"),
    [
        (YES_NO, "yes", 1.0),
        (YES_NO, "Yes, as the reply is polite.", 1.0),
        (YES_NO, " **No**\n\nIt is rude.", 0.0),
        (YES_NO, "No \u2013 it is rude.", 0.0),
        (YES_NO, "No verdict can be given.", None),
        (YES_NO, "Yes and no", None),
        (YES_NO, "Nope", None),
        (YES_NO, "", None),
        (YES_NO, "I cannot judge this.", None),
        (YES_NO, "<think>Yes", None),
        (PAIR, "A", 1.0),
        (PAIR, "[[B]]", 0.0),
        (PAIR, "C (neither)", 0.5),
        (PAIR, "A better reply is B.", None),
        (PAIR, "A/B", None),
        (FIVE, "4", 4.0),
        (FIVE, "4.", 4.0),
        (FIVE, "4.5", None),
        (FIVE, "5 reasons speak for a 2", None),
        (FIVE, "5-point scale: 2", None),
        (FIVE, "5/10", None),
        (FIVE, "85", None),
        (FIVE, "-1", None),
        (TEN, "10", 10.0),
        (TEN, "1", 1.0),
    ],
)
def test_a_written_verdict_is_an_answer_alone_or_before_the_end_of_a_clause(
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
