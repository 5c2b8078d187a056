"""Postscripts and placeholders."""

from __future__ import annotations

import pytest

from pytest_puma.core import SettingsError
from tests.metrics.library.replies import score


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bye.\nP.S. Call me.", 1),
        ("Bye. P.P.S. Call me.", 1),
        ("(P.S.)", 1),
        ("p.s. Call me.", 0),
        ("PS Call me.", 0),
        ("the U.S.P.S. truck", 0),
        ("XP.S.", 0),
        ("P.S", 0),
        ("P.P.S", 0),
        ("PxS.", 0),
        ("", 0),
    ],
)
def test_a_postscript_is_marked(text: str, value: int) -> None:
    assert score("postscript", text) == value


@pytest.mark.parametrize(
    ("text", "least", "value"),
    [
        ("Dear [name],", 1, 1),
        ("Dear [name], of [town]", 2, 1),
        ("Dear [name], of [town]", 3, 0),
        ("Dear [name] and [name]", 2, 1),
        ("[[name]]", 1, 1),
        ("- [ ] milk", 1, 0),  # an empty box of a list
        ("[]", 1, 0),
        ("[here](https://example.org)", 1, 0),  # a link
        ("[two\nlines]", 1, 0),
        ("none", 1, 0),
        ("", 1, 0),
    ],
)
def test_placeholders_are_counted(text: str, least: int, value: int) -> None:
    assert score("placeholders", text, placeholders=least) == value


def test_one_placeholder_is_enough_by_default() -> None:
    assert score("placeholders", "[name]") == 1
    assert score("placeholders", "name") == 0


def test_an_invalid_number_of_placeholders_is_refused() -> None:
    with pytest.raises(
        SettingsError,
        match=r"^placeholders: the context of sample 's1' has 0 as 'placeholders'; expected a whole number from 1",
    ):
        score("placeholders", "[name]", placeholders=0)
