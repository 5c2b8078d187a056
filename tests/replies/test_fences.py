"""Markdown fences around a reply, and in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.replies.fences import blocks, content, unfenced

LINES = st.lists(st.text(st.characters(exclude_characters="`~\r", codec="utf-8"), max_size=8), max_size=5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```json\n[1]\n```", "[1]"),
        ("  ```\n[1]\n```\n\n", "[1]"),
        ("~~~~\n[1]\n~~~~", "[1]"),
        ("```\n[1]", "[1]"),  # never closed, as a stop string may cut the end
        ("````\n```\n[1]\n```\n````", "```\n[1]\n```"),
        ("```\n```", ""),
        ("Sure:\n```\n[1]\n```", "Sure:\n```\n[1]\n```"),
        ("```\n[1]\n```\nDone.", "```\n[1]\n```\nDone."),
        ("```\n[1]\n```\n```\n[2]\n```", "```\n[1]\n```\n```\n[2]\n```"),
        ("`[1]`", "`[1]`"),
        ("```[1]```", "```[1]```"),
        (" [1] ", "[1]"),
        ("", ""),
    ],
)
def test_only_a_fence_around_all_of_a_text_is_taken_away(text: str, expected: str) -> None:
    assert unfenced(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```\nb\n```\nc\n~~~py\nd\ne\n~~~", ["b", "d\ne"]),
        ("- item\n   ```\n   b\n   ```", ["   b"]),
        ("    ```\nb\n    ```", []),  # four spaces are code, no fence
        ("```\nb ``` c\n```", ["b ``` c"]),
        ("```\nb\n~~~\nc\n```", ["b\n~~~\nc"]),
        ("no fence", []),
    ],
)
def test_blocks_are_the_texts_between_fences(text: str, expected: list[str]) -> None:
    assert blocks(text) == expected


def test_the_content_is_the_longest_block_or_the_whole_text() -> None:
    assert content("a\n```\nb\n```\n```\nlonger \n```") == "longer"
    assert content(" a\n") == "a"
    assert content("long text\n```\n```") == ""


@given(lines=LINES)
def test_a_fence_changes_nothing_inside(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert unfenced(f"```json\n{text}\n```") == text.strip()
    assert content(f"Here:\n```\n{text}\n```\nDone.") == text.strip()


@pytest.mark.parametrize("line", ["~", "~`", "```", "~~~\n", "````\n```\n"])
def test_a_long_text_of_fences_is_read_in_linear_time(line: str) -> None:
    text = line * 100_000
    for read in (blocks, unfenced, content):
        read(text)
