"""Digests of the code of scenarios."""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core.scenario import OptionalMembers
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.code import code_digests
from tests.composed import Capitals

Digests = Callable[..., Mapping[str, str]]
HELPERS = """
import re

WORD = re.compile("[A-Z]+")
seen = 0

class Reader:
    def __init__(self, word):
        self.word = word

    def read(self, text):
        return self.word.search(text)
"""
TASK = """
import helpers
from tests.factories import Triage

READER = helpers.Reader(helpers.WORD)

class Words(Triage):
    def parse_response(self, response):
        return response.strip("!") or None

class Tickets(Words):
    name = "tickets"

    def parse_response(self, response):
        return super().parse_response(response) or self._first(response)

    def _first(self, response):
        found = READER.read(response)
        return found and found[0]

    def gold_label(self, instance):
        return instance["gold"].upper()
"""
USED = """
import re
from functools import cached_property
from tests.factories import Triage

class Reader:
    word = "[a-z]+"

    @cached_property
    def pattern(self):
        return re.compile(self.word)

READER = Reader()

class Tickets(Triage):
    name = "tickets"

    def parse_response(self, response):
        return READER.pattern.search(response)[0]
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Import a user's modules with these texts anew; return the scenario of the last one. No module is left behind."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loaded = set[str]()

    def of(**texts: str) -> Any:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
            sys.modules.pop(name, None)
        loaded.update(texts)
        importlib.invalidate_caches()
        linecache.clearcache()
        return importlib.import_module([*texts][-1]).Tickets

    yield of
    for name in loaded:
        del sys.modules[name]


@pytest.fixture
def digests(load: Callable[..., Any]) -> Digests:
    """The digests of the scenario after a replacement in its two modules, which are a user's."""

    def of(old: str = "", new: str = "") -> Mapping[str, str]:
        texts = {"helpers": HELPERS, "tickets": TASK}
        return code_digests(load(**{name: text.replace(old, new) if old else text for name, text in texts.items()}))

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[A-Z]+", "[a-z]+"),
        ("self.word.search", "self.word.match"),
        ("found and found[0]", "found and found[0].lower()"),
        ("or self._first(response)", ""),
        ('strip("!")', 'strip("?")'),
    ],
)
def test_a_change_of_what_the_parser_reaches_is_one_of_the_parser_alone(digests: Digests, old: str, new: str) -> None:
    before, after = digests(), digests(old, new)
    assert before["parser_sha256"] != after["parser_sha256"]
    assert before["scenario_sha256"] == after["scenario_sha256"]


def test_another_method_is_no_parser(digests: Digests) -> None:
    before, after = digests(), digests("upper", "lower")
    assert before["parser_sha256"] == after["parser_sha256"]
    assert before["scenario_sha256"] != after["scenario_sha256"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        found =", "        # A comment.\n        found ="),
        ("        found =", "\n        found ="),
        ("seen = 0", "seen = 1"),
    ],
)
def test_comments_empty_lines_and_state_are_no_code(digests: Digests, old: str, new: str) -> None:
    assert digests() == digests(old, new)


def test_a_reader_that_was_used_has_the_same_digest(load: Callable[..., Any]) -> None:
    def digest(*, used: bool) -> str:
        scenario = load(used=USED)
        if used:
            assert scenario().parse_response("b") == "b"
        return code_digests(scenario)["parser_sha256"]

    assert digest(used=False) == digest(used=True)


def test_parsers_of_the_package_differ() -> None:
    parsers = {name: code_digests(scenario)["parser_sha256"] for name, scenario in BUILTIN.items()}
    assert len(set(parsers.values())) == len(parsers) - 1, "both orders of pairs are read alike"


def test_a_default_of_a_later_version_is_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(code_digests(Capitals))
    code_digests.cache_clear()
    monkeypatch.setattr(OptionalMembers, "reply_to", lambda self, item, said: "another default")  # noqa: ARG005
    assert code_digests(Capitals) == before

    class Deciding(Capitals):
        def reply_to(self, item: dict[str, Any], said: Sequence[str]) -> str | None:  # noqa: ARG002
            return "And now?"

    assert code_digests(Deciding)["scenario_sha256"] != before["scenario_sha256"]
    assert code_digests(Deciding)["parser_sha256"] == before["parser_sha256"]
