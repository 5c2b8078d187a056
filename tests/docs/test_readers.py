"""The page of the readers against the functions."""

from __future__ import annotations

import ast
import re

import pytest

from pytest_puma.replies import readers
from tests.docs.reference import ROOT

PAGE = (ROOT / "docs" / "reference" / "readers.md").read_text(encoding="utf-8")
#: A reply with backticks stands between four of them; `\\n` is a new line in it.
_ROW = re.compile(
    r"^\| `(?P<name>\w+)\((?P<arguments>.*?)\)` \| (`+) ?(?P<reply>.*?) ?\3 \| `(?P<answer>.*?)` \|$", re.MULTILINE
)
ROWS = [row.group("name", "arguments", "reply", "answer") for row in _ROW.finditer(PAGE)]


@pytest.mark.parametrize(("name", "arguments", "reply", "answer"), ROWS, ids=[row[0] for row in ROWS])
def test_a_reader_finds_what_its_row_has(name: str, arguments: str, reply: str, answer: str) -> None:
    written = re.findall(r'(\w+)=("[^"]*"|\[[^\]]*\])', arguments)
    keywords = {keyword: ast.literal_eval(value) for keyword, value in written}
    text = reply.replace(r"\n", "\n") if "```" in reply else reply
    assert getattr(readers, name)(text, **keywords) == answer


def test_each_reader_of_texts_has_a_row() -> None:
    public = {name for name, each in vars(readers).items() if getattr(each, "__module__", "") == readers.__name__}
    readers_of_texts = {name for name in public if not name.startswith("_")} - {
        *("final_value", "last_value", "marked_answers")  # of exact values, and of all marks
    }
    assert readers_of_texts == {row[0] for row in ROWS}
