"""What a responder may give: a `Response` that every run can keep and read again."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_puma.core import EngineError, Response


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"text": None}, r"text is None; expected a string, empty if there is none"),
        (
            {"finish": "content_filter"},
            r"finish is 'content_filter'; expected one of stop, length, context, scored, over",
        ),
        ({"finish": None}, r"finish is None; expected one of stop"),
        ({"logprobs": (-0.5, math.nan)}, r"logprobs are \(-0.5, nan\); expected numbers, -inf for a probability of 0"),
        ({"logprobs": (math.inf,)}, r"logprobs are \(inf,\)"),
        ({"logprobs": (None, -0.2)}, r"logprobs are \(None, -0.2\)"),
    ],
)
def test_what_a_server_sends_and_no_run_can_keep_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(EngineError, match=f"a Response's {problem}"):
        Response(**given)


def test_a_probability_of_zero_and_an_empty_text_are_answers() -> None:
    assert Response(text="", logprobs=(-math.inf, -1, 1e-9), finish="length").truncated
