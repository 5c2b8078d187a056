from __future__ import annotations

import csv
import io
import re
import time
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_puma.report import escape

#: What terminals, CI systems, Markdown, spreadsheets and XML take for more than characters.
PIECES = (
    "\n", "\r\n", "\t", " ", "\x00", "\x07", "\x1b[2J", "\x9b31m", "\x85", "\u2028", "\u202e", "\u2066", "\u200b",
    "\ufeff", "\ufffe", "\ud800", "::error::", "::", ":", "##[group]", "##vso[", "##TeamCity[", "#", "=1+1", "+", "-",
    "@", "\uff1d", "cmd|", "'", '"', ",", ";", "-1.5", "1e-3", "`", "``", "```", "|", "\\", "*", "_", "__", "~~", "$x$",
    "[x](http://e.com)", "![x](http://e.com/a.png)", "@team", "@org/team", "#12", "!3", "www.e.com", "a@b.cc", "<b>",
    "</summary>", "<script>", "&amp;", "---", "===", "> ", "- ", "# ", "1. ", "[^1]", "[x]: y", "a", "é", "漢",
    "👩\u200d💻",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=10).map("".join)


def _is_harmless(line: str) -> bool:
    """Nothing in it moves the cursor, hides, reorders, or ends the line."""
    return all(each.isprintable() or each in "\u200c\u200d" or not _hides(each) for each in line)


def _visible(text: str) -> str:
    """The text with all that hides or moves something written as `ascii` writes it."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return "".join(
        ascii(each)[1:-1] if unicodedata.category(each) in hidden and each not in "\u200c\u200d" else each
        for each in text
    )


def _hides(character: str) -> bool:
    bidirectional = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    controls = (*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0x2028, 0x2029, 0xFEFF)
    return ord(character) in controls or character in bidirectional


@given(TEXT)
def test_a_terminal_gets_one_line_that_nothing_takes_for_a_command(text: str) -> None:
    line = escape.terminal(text)

    assert _is_harmless(line)
    assert len(line.splitlines()) <= 1
    assert not line.lstrip().startswith("::")
    assert not re.search(r"##(vso|teamcity)?\[", line, re.IGNORECASE)
    line.encode()
    assert escape.terminal(line) == line, "it may pass twice"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain, 100 % ünïcödé 漢字 👩\u200d💻", "plain, 100 % ünïcödé 漢字 👩\u200d💻"),
        ("T-1\n::error::owned", r"T-1\n::error::owned"),
        ("  ::add-mask::x", r"  \x3a:add-mask::x"),
        ("a ##[group]x", r"a \x23#[group]x"),
        ("\x1b[31mred\x00", r"\x1b[31mred\x00"),
        ("\u202eevil", r"\u202eevil"),
        ("\ud800", r"\ud800"),
        ("std::vector #1 [a]", "std::vector #1 [a]"),
    ],
)
def test_a_terminal_shows_what_is_hidden(text: str, line: str) -> None:
    assert escape.terminal(text) == line


def test_a_very_long_line_keeps_its_beginning_and_its_end() -> None:
    line = escape.terminal("who: " + "x" * 10**6 + "\x1b; what to do")
    assert len(line) < 2000
    assert line.startswith("who: xxx")
    assert line.endswith(r"xxx\x1b; what to do")
    assert escape.terminal(line) == line


@pytest.mark.parametrize("piece", ["x", "_", "@", "%a", "[x](http://", "漢", "a_", "`|", "\x1b", "##["])
def test_a_very_long_text_without_blanks_takes_no_time_and_little_room(piece: str) -> None:
    text = f"who{piece * 10**6} end"
    started = time.process_time()
    for write in (escape.markdown, escape.html, escape.terminal, escape.unmarked):
        line = write(text)
        assert len(line) < 20_000
        assert "who" in line
        assert line.endswith("end")
    assert time.process_time() - started < 20


@pytest.mark.parametrize("piece", ["x", "_", "@", "%a", "[x](http://", "a_", "www."])
def test_the_time_of_markdown_is_linear_however_long_a_text_may_be(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escape, "_MAX_LINE", 10**9)
    started = time.process_time()
    escape.markdown(f"a{piece * 100_000}a")
    assert time.process_time() - started < 20


@given(TEXT)
def test_each_line_of_several_is_safe(text: str) -> None:
    lines = escape.terminal_lines(text).split("\n")
    assert lines == [escape.terminal(line) for line in text.split("\n")]


@given(TEXT)
@example("[^1]`::error::")
@example("see GH-26 and gh-7, or %v1")
@example("%\x00")
def test_markdown_is_one_line_without_markup_or_links(text: str) -> None:
    written = escape.markdown(text)

    assert len(written.splitlines()) <= 1
    assert _is_harmless(written)
    assert not re.match(r"[=#>\s]|\[[ xX]\]|[-+][-\s]|\d+[.)](\s|$)", written), "a block begins"
    assert not re.search(r"(?<!\\)(\\\\)*\|", written), "a cell of a table ends"
    # Behind the backslashes and outside of code, in whose place a semicolon stands, nothing means anything.
    running = re.sub(r"`[^`]+`|\\(?:[^\w\s]|_)", ";", written.replace("&#96;", "'"))
    assert not re.search(r"[\\`*<|~$@&]|\][(\[:]|://|www\.|[#!]\d|\bGH-\d|%\w", running, re.IGNORECASE), running
    assert not re.search(r"(?<!\w)_|_(?!\w)", running)


@given(TEXT)
def test_markdown_loses_no_character(text: str) -> None:
    shown = re.sub(r"`([^`]+)`", lambda code: code[1].replace("\\", "\\\\"), escape.markdown(text))
    shown = re.sub(r"\\([^\w\s]|_)", r"\1", shown).replace("&#96;", "`")
    assert shown == _visible(" ".join(text.split()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("triage_jira-zero_shot@qwen2.5: f1_macro", "`triage_jira-zero_shot@qwen2.5`: f1_macro"),
        ("![x](http://a.b/c.png) @team", "`![x](http://a.b/c.png)` `@team`"),
        ("a|b*c", r"a\|b\*c"),
        ("is [0.41, 0.52] n=50", "is [0.41, 0.52] n=50"),
        ("[x](y z) [x]: y [x][y]", r"[x\](y z) [x\]: y [x\][y]"),
        ("one\ntwo", "one two"),
        ("# heading", r"\# heading"),
        ("1. list", r"1\. list"),
        ("-0.2", "-0.2"),
        ("0.66", "0.66"),
        ("- list", r"\- list"),
        ("---", r"\---"),
        ("[x] done", r"\[x] done"),
        ("see #12", "see `#12`"),
        ("`code`", "&#96;code&#96;"),
        ("<b>&amp;</b>", r"\<b>\&amp;\</b>"),
        ("_x_ per_class", r"\_x\_ per_class"),
        ("a__b __init__.py", r"a__b \_\_init\_\_.py"),
        ("https://e.com/x, see @team...", "`https://e.com/x`, see `@team`..."),
    ],
)
def test_markdown_is_read_as_it_was(text: str, written: str) -> None:
    assert escape.markdown(text) == written


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXT)
def test_html_is_text_alone(text: str) -> None:
    reader = _Read()
    reader.feed(escape.html(text))
    reader.close()

    assert not reader.tags
    assert reader.text == _visible(text)


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_no_cell_of_a_csv_file_is_a_formula_and_none_splits(texts: list[str]) -> None:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(map(escape.csv, texts))
    (row,) = csv.reader(io.StringIO(stream.getvalue(), newline=""))

    assert len(row) == len(texts)
    for cell, text in zip(row, texts, strict=True):
        assert not cell.lstrip().startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20")) or float(cell) == float(text)
        assert _is_harmless(cell.replace("\n", "").replace("\t", ""))


@pytest.mark.parametrize("value", [-0.2, -3, 0.0, "-0.2", "+1e-3", "-.5", "a-b", "x=1", ""])
def test_numbers_and_ordinary_text_stay_as_they_are_in_csv(value: object) -> None:
    assert escape.csv(value) == value


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1", "\n=1", "\uff1d1"])
def test_a_formula_gets_an_apostrophe_in_csv(text: str) -> None:
    assert escape.csv(text) == f"'{text}"


@given(TEXT)
def test_an_attribute_in_xml_can_be_parsed_and_holds_the_text(text: str) -> None:
    written = escape.xml(text)
    element = ET.fromstring(ET.tostring(ET.Element("property", name=written, value=written)))  # noqa: S314 - our own

    assert element.attrib == {"name": written, "value": written}
    assert _is_harmless(written)
