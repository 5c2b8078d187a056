"""The verdict in a written reply: which replies state one of the answers, and which are unreadable."""

from __future__ import annotations

import pytest

from pytest_puma.judges.scale import PAIR, YES_NO, VerdictScale, grades
from pytest_puma.replies.verdicts import stated_verdict

FIVE, TEN = grades(1, 5), grades(1, 10)


@pytest.mark.parametrize(
    ("scale", "text", "verdict"),
    [
        (YES_NO, "yes", "yes"),
        (YES_NO, "Yes, as the reply is polite.", "yes"),
        (YES_NO, " **No**\n\nIt is rude.", "no"),
        (YES_NO, "No \u2013 it is rude.", "no"),
        (YES_NO, "No verdict can be given.", None),
        (YES_NO, "Yes and no", None),
        (YES_NO, "Nope", None),
        (YES_NO, "", None),
        (YES_NO, "I cannot judge this.", None),
        (VerdictScale({"en": ("hit", "miss")}, (1.0, 0.0)), "H\u0131T", "hit"),
        (YES_NO, '{"verdict": "yes"}', "yes"),
        (YES_NO, '{\n  "verdict": "no"\n}', "no"),
        (YES_NO, '{ "verdict" : "No" }', "no"),
        (YES_NO, '```json\n{"verdict": "yes"}\n```', None),
        (YES_NO, '{"verdict": "ye', None),
        (YES_NO, "{}", None),
        (YES_NO, '{"verdict": "yes and no"}', None),
        (YES_NO, '{"verdict":"   ', None),
        (YES_NO, '{"verdict": "yes", "reason": "It says sorry."}', "yes"),
        (YES_NO, '{"reason": "no", "verdict": "yes"}', None),
        (YES_NO, "**Verdict:** no", "no"),
        (YES_NO, "Final answer: **Yes**", "yes"),
        (YES_NO, "The answer is no", None),
        (PAIR, "Verdict: [[B]]", "B"),
        (PAIR, "Answer A is better", None),
        (PAIR, "Answer: A or B", None),
        (PAIR, "A", "A"),
        (PAIR, "[[B]]", "B"),
        (PAIR, "C (neither)", "C"),
        (PAIR, "A better reply is B.", None),
        (PAIR, "A/B", None),
        (PAIR, '{"verdict": "A better reply is B."}', None),
        (FIVE, "4", "4"),
        (FIVE, "4.", "4"),
        (FIVE, "4.5", None),
        (FIVE, "5 reasons speak for a 2", None),
        (FIVE, "5-point scale: 2", None),
        (FIVE, "5/10", None),
        (FIVE, "85", None),
        (FIVE, "-1", None),
        (FIVE, '{"verdict": "4"}', "4"),
        (FIVE, '{"verdict": 4}', "4"),
        (TEN, "10", "10"),
        (TEN, "1", "1"),
    ],
)
def test_a_verdict_is_an_answer_alone_or_before_the_end_of_a_clause(
    scale: VerdictScale, text: str, verdict: str | None
) -> None:
    found = stated_verdict(text, scale.shown("en"))
    assert (found[0] if found else None) == verdict
    if found is not None:
        assert text[found[1]].casefold() == found[0][0].casefold()


def test_an_answer_of_several_words_comes_before_its_beginning() -> None:
    assert stated_verdict("True (mostly)", ("True", "True (mostly)")) == ("True (mostly)", 0)
