"""The picture at the top of README.md: one real run of pytest in a terminal, written as SVG.

    python -m tools.picture    # runs the command below and writes docs/picture.svg

The SVG holds text alone: no script, no font from the network. It has a background of its own, so that it is readable
on a light page and on a dark one. Each piece of text has a fixed place and length: columns stay aligned in any font.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "picture.svg"
COLUMNS = 96
COMMAND = """\
pytest benchmarks/test_triage_jira.py --puma-strategy zero_shot,few_shot_3,option_scoring
    --puma-gate "f1_macro > naive.tfidf" --puma-gate "triage_jira-few_shot_3: f1_macro >= 0.85"
"""
TITLE = "A run of three benchmarks: one misses its gate, and the report shows each number with its interval"

#: All answers are computed: those of an earlier run would have no time of their own.
_MEASURES = ("--puma-store=off",)

_HEADER = re.compile(r"^[^\n]* test session starts .*?(?=^collected )", re.MULTILINE | re.DOTALL)
_MISSES = re.compile(r"^(the worst \d+ of \d+ misses:\n(?:  .*\n){3})(?:  .*\n)+", re.MULTILINE)

_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m")  # Select Graphic Rendition of ECMA-48: colours and bold
_COLOURS = {31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
_BACKGROUND, _TEXT = "#161b22", "#e6edf3"
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
_SIZE, _ADVANCE, _LEADING, _MARGIN = 14, 8.4, 19, 16  # px: font, one column, one line, around the text


@dataclass(frozen=True, slots=True)
class Style:
    """Look of a character; `colour` is a key of `_COLOURS`, 0 is the colour of plain text."""

    colour: int = 0
    bold: bool = False

    def after(self, codes: str) -> Style:
        """Return the style after the codes of an escape sequence, as "31;1"; unknown codes change nothing."""
        style = self
        for code in map(int, codes.split(";") if codes else "0"):
            if code in (0, 39):
                style = Style(bold=style.bold and code != 0)
            elif code in _COLOURS:
                style = Style(code, style.bold)
            elif code in (1, 22):
                style = Style(style.colour, bold=code == 1)
        return style


def characters(output: str) -> Iterator[tuple[str, Style]]:
    """Each character of a terminal's output with its style; escape sequences are left out."""
    style = Style()
    for position, part in enumerate(_SEQUENCE.split(output)):
        if position % 2:
            style = style.after(part)
        else:
            yield from ((character, style) for character in part)


def wrapped(output: str, columns: int) -> list[list[tuple[str, Style]]]:
    """The lines of the output as a terminal with `columns` columns shows them."""
    lines: list[list[tuple[str, Style]]] = [[]]
    for character, style in characters(output.rstrip("\n")):
        if character == "\n":
            lines.append([])
            continue
        if len(lines[-1]) == columns:
            lines.append([])
        lines[-1].append((character, style))
    return lines


def pieces(line: Sequence[tuple[str, Style]]) -> Iterator[tuple[int, str, Style]]:
    """The pieces of a line with one style and no gap of several spaces, each behind its column."""
    column = 0
    for style, group in groupby(line, key=lambda pair: pair[1]):
        text = "".join(character for character, _ in group)
        for match in re.finditer(r"\S+(?: \S+)*", text):
            yield column + match.start(), match[0], style
        column += len(text)


def svg(output: str, *, columns: int, title: str) -> str:
    """Return the output of a terminal, with its escape sequences, as an SVG document."""
    lines = wrapped(output, columns)
    width, height = round(columns * _ADVANCE) + 2 * _MARGIN, len(lines) * _LEADING + 2 * _MARGIN
    texts = [
        _text(column, number, text, style) for number, line in enumerate(lines) for column, text, style in pieces(line)
    ]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="{_FONT}" font-size="{_SIZE}" fill="{_TEXT}">'
    )
    frame = f'<rect width="{width}" height="{height}" rx="8" fill="{_BACKGROUND}"/>'
    return "\n".join([opening, f"<title>{escape(title)}</title>", frame, *texts, "</svg>", ""])


def _text(column: int, line: int, text: str, style: Style) -> str:
    x, y = _MARGIN + column * _ADVANCE, _MARGIN + line * _LEADING + _SIZE
    look = f' fill="{_COLOURS[style.colour]}"' if style.colour else ""
    look += ' font-weight="bold"' if style.bold else ""
    length = f'textLength="{len(text) * _ADVANCE:g}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:g}" y="{y}" {length}{look}>{escape(text)}</text>'


def shown(output: str) -> str:
    """Return pytest's output without its header, and with the first miss of a gate alone."""
    return _MISSES.sub(r"\1  ...\n", _HEADER.sub("", output))


def run() -> str:
    """Run the command and return its prompt and output; one of its gates is missed, so it exits with 1."""
    program, *arguments = shlex.split(COMMAND)
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", program, "--color=yes", *_MEASURES, *arguments],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "CI"} | {"COLUMNS": str(COLUMNS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 1:
        sys.exit(f"exit status {done.returncode}, expected 1\n{done.stdout}")
    return "$ " + COMMAND.rstrip().replace("\n", " \\\n") + "\n" + shown(done.stdout)


if __name__ == "__main__":
    TARGET.write_text(svg(run(), columns=COLUMNS, title=TITLE), encoding="utf-8")
    print(f"{TARGET} is written")
