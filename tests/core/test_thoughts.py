from __future__ import annotations

import pytest

from pytest_puma.core.backend import Thoughts

HARMONY = Thoughts(
    open="<|channel|>analysis<|message|>",
    close="<|end|><|start|>assistant<|channel|>final<|message|>",
    answer="<|channel|>final<|message|>",
)
BEGUN = Thoughts(open="<think>", close="</think>", begun=True)


@pytest.mark.parametrize(
    ("marks", "written", "shown"),
    [
        (HARMONY, f"{HARMONY.open}Hm.{HARMONY.close}Major", "<think>Hm.</think>Major"),
        (HARMONY, f"{HARMONY.answer}Major", "Major"),
        (HARMONY, f"{HARMONY.open}Hm", "<think>Hm"),
        (BEGUN, "Hm.</think>Major", "<think>Hm.</think>Major"),
        (BEGUN, "Hm. Major", "<think>Hm. Major"),
        (Thoughts(), "<b>Major", "<b>Major"),
    ],
)
def test_a_reply_shows_its_thoughts_in_one_spelling(marks: Thoughts, written: str, shown: str) -> None:
    assert marks.shown(written) == shown


@pytest.mark.parametrize(
    ("marks", "written", "unfinished"),
    [
        (HARMONY, "", False),
        (HARMONY, HARMONY.open, True),
        (HARMONY, f"{HARMONY.open}Hm.{HARMONY.close}", False),
        (BEGUN, "", True),
        (BEGUN, "Hm.</think>", False),
        (BEGUN, "Hm.</think><think>", True),
        (Thoughts(), "<think>", False),
    ],
)
def test_thoughts_end_with_their_mark(marks: Thoughts, written: str, *, unfinished: bool) -> None:
    assert marks.unfinished(written) == unfinished


def test_a_token_that_ends_turns_may_only_end_the_thoughts() -> None:
    assert HARMONY.goes_on(f"{HARMONY.open}Hm.", "<|end|>")
    assert not HARMONY.goes_on("Major", "<|end|>")
    assert not HARMONY.goes_on(f"{HARMONY.open}Hm.", "<|return|>")
    assert not HARMONY.goes_on(f"{HARMONY.open}Hm.", "")
