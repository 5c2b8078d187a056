"""The picture of the README: what a terminal shows, as an SVG that any browser draws alike."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tools.picture import ROOT, Style, pieces, shown, svg, wrapped

OUTPUT = "collected 2 items\n\n\x1b[32m.\x1b[0m\x1b[31m\x1b[1mF <a> & b\x1b[0m  [100%]\n"
SVG = "{http://www.w3.org/2000/svg}"

SESSION = """\
\x1b[1m===== test session starts =====\x1b[0m
plugins: puma-0.1.0
collected 1 item

the worst 2 of 9 misses:
  A-1: answered Minor, gold is Major
    prompt one
    raw    'Minor'
  A-2: answered Minor, gold is Major
    prompt two
    raw    'Minor'
===== puma =====
"""


def _drawn(output: str, *, columns: int = 40) -> ET.Element:
    return ET.fromstring(svg(output, columns=columns, title="A <run>"))  # noqa: S314 - our own document


def test_each_piece_of_text_is_drawn_in_its_column_line_and_colour() -> None:
    texts = [(each.text, each.get("fill"), each.get("font-weight")) for each in _drawn(OUTPUT).iter(f"{SVG}text")]
    assert texts == [
        ("collected 2 items", None, None),
        (".", "#56d364", None),
        ("F <a> & b", "#ff7b72", "bold"),
        ("[100%]", None, None),
    ]
    places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in _drawn(OUTPUT).iter(f"{SVG}text")]
    (left, top), (dot, bottom), (letter, _), (last, _) = places
    assert (dot, bottom) == (left, top + 2 * 19)
    assert (letter - dot, last - dot) == pytest.approx((8.4, 12 * 8.4))


def test_a_long_line_is_wrapped_at_the_width_of_the_terminal() -> None:
    lines = wrapped("\x1b[1mabcde\x1b[0mfgh\nij", 3)
    assert ["".join(character for character, _ in line) for line in lines] == ["abc", "def", "gh", "ij"]
    assert list(pieces(lines[1])) == [(0, "de", Style(bold=True)), (2, "f", Style())]


def test_a_style_lasts_until_it_is_reset() -> None:
    style = Style().after("31").after("1")
    assert style == Style().after("31;1") == Style(31, bold=True)
    assert style.after("22") == Style(31)
    assert style.after("39") == Style(bold=True)
    assert style.after("4") == style
    assert style.after("") == style.after("0") == Style()


def test_the_picture_shows_no_header_and_one_miss() -> None:
    lines = shown(SESSION).splitlines()
    assert lines[0] == "collected 1 item"
    assert lines[2:] == [*SESSION.splitlines()[4:8], "  ...", "===== puma ====="]


def test_the_picture_of_the_readme_is_text_alone() -> None:
    picture = ROOT / "docs" / "picture.svg"
    assert f"]({picture.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - our own document
    assert {each.tag.removeprefix(SVG) for each in drawn.iter()} == {"svg", "title", "rect", "text"}
    verdicts = {each.text for each in drawn.iter(f"{SVG}text")}
    assert {"PASS", "FAIL"} <= verdicts
