"""The styles of the page: contrast in light and dark, and nothing that its security policy refuses."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from pytest_puma.report import page as package

FOLDER = Path(package.__file__).parent
CSS = (FOLDER / "page.css").read_text(encoding="utf-8")
COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)}
TEXTS = ("ink", "muted", "link", "good", "bad", "doubt")
PAIRS = [
    *product(TEXTS, ("page", "surface", "raised")),
    *(("ink", f"shade-{step}") for step in range(10)),
    ("good", "good-soft"),
    ("bad", "bad-soft"),
    ("doubt", "doubt-soft"),
    ("ink", "mark"),
]
#: Marks of charts, which are no text.
MARKS = [*product(("series", "series-2", "reference"), ("page", "surface"))]


def luminance(colour: str) -> float:
    """Relative luminance. Source: WCAG 2.2."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_and_marks_stand_out_from_what_is_behind_them(theme: int) -> None:
    for minimum, pairs in ((4.5, PAIRS), (3.0, MARKS)):
        weak = {
            pair: round(ratio, 2)
            for pair in pairs
            if (ratio := contrast(COLOURS[pair[0]][theme], COLOURS[pair[1]][theme])) < minimum
        }
        assert not weak


def test_every_colour_of_the_rules_is_a_token() -> None:
    _, rules = CSS.split(':root[data-theme="dark"]', 1)
    assert not re.findall(r"#[0-9a-f]{3,6}\b|\brgb|\bhsl", rules)
    assert set(re.findall(r"var\(--([\w-]+)\)", rules)) <= set(re.findall(r"--([\w-]+):", CSS))


def test_the_template_has_no_style_and_no_handler() -> None:
    for template in FOLDER.glob("*.jinja"):
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|\son\w+=|<script|javascript:|https?:", text), template.name
