from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_puma.platform.processes import BoundedFunction

FILE = """
import re, time

def found(pattern, text):
    match = re.search(pattern, text)
    return [] if match is None else [*match.span()]

def slow(seconds):
    time.sleep(seconds)
    return seconds
"""


@pytest.fixture
def found(tmp_path: Path) -> Iterator[BoundedFunction]:
    (tmp_path / "patterns.py").write_text(FILE)
    made = BoundedFunction(tmp_path / "patterns.py", "found", ("a", "a"), seconds=1)
    yield made
    made.close()


def test_a_value_is_that_of_the_function(found: BoundedFunction) -> None:
    assert found("b+", "abbc") == [1, 3]
    assert found("b+", "ac") == []
    assert found("é\ud800", "é\ud800") == [0, 2]


def test_a_function_that_raises_has_no_value_and_the_next_call_has_one(found: BoundedFunction) -> None:
    assert found("(", "a") is None
    assert found("a", "a") == [0, 1]


def test_a_pattern_that_never_ends_has_no_value_and_the_next_call_has_one(found: BoundedFunction) -> None:
    assert found("^(a+)+$", "a" * 40 + "!") is None
    assert found("a", "a") == [0, 1]


def test_the_example_has_all_the_time(tmp_path: Path) -> None:
    (tmp_path / "patterns.py").write_text(FILE.replace("time.sleep(seconds)", "sum(range(30_000_000 * seconds))"))
    made = BoundedFunction(tmp_path / "patterns.py", "slow", (4,), seconds=1)
    assert made(0) == 0
    made.close()


def test_a_function_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "patterns.py").write_text(FILE)
    for name, arguments in (("lost", ()), ("found", ("a",))):
        with pytest.raises(RuntimeError, match=r"serving\.py did not start"):
            BoundedFunction(tmp_path / "patterns.py", name, arguments)(*json.loads("[1, 2]"))
