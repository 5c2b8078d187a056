"""The security policy of the page allows what is in it, and nothing else."""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from importlib.resources import files

import pytest

from pytest_puma.report.page.page import as_page
from tests.factories import outcome, run

PAGE = as_page(run(outcome()), None)
FOLDER = files("pytest_puma.report.page")


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def directives() -> dict[str, list[str]]:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', PAGE)
    return {name: sources for name, *sources in map(str.split, policy.split(";"))}


def test_the_scripts_and_the_styles_are_allowed_by_their_hashes() -> None:
    script, start = re.findall(r"<script>(.*?)</script>", PAGE, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", PAGE, re.DOTALL)
    built = json.loads((FOLDER / "viewer.json").read_text(encoding="utf-8"))
    assert directives()["script-src"] == [hashed(script), hashed(start)]
    assert directives()["style-src"] == [hashed(style), *(f"'{each}'" for each in built["styles"])]
    assert built.get("script") in {None, hashed(script).strip("'")}


def test_everything_else_is_forbidden() -> None:
    expected = {"default-src": ["'none'"], "img-src": ["data:"], "base-uri": ["'none'"], "form-action": ["'none'"]}
    expected |= {"require-trusted-types-for": ["'script'"], "trusted-types": ["'none'"]}
    assert {name: each for name, each in directives().items() if name not in {"script-src", "style-src"}} == expected
    assert '<meta name="referrer" content="no-referrer">' in PAGE


def test_the_policy_comes_before_anything_that_it_is_about() -> None:
    head = PAGE[: PAGE.index("Content-Security-Policy")]
    assert re.findall(r"<(\w+)", head) == ["html", "head", "meta", "meta"]


@pytest.mark.parametrize(
    ("name", "end"), [("viewer.js", "</script"), ("viewer.css", "</style"), ("page.css", "</style")]
)
def test_no_file_ends_its_element(name: str, end: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert end not in text.lower()
    assert "<!--" not in text
    assert "\r" not in text
