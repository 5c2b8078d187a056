"""Code blocks of Markdown pages: a reader, a check for each language, and the commands behind `$`."""

from __future__ import annotations

import configparser
import csv
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile, groupby
from typing import Any

import jinja2
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ASSIGNMENT = re.compile(r"[A-Z_]+=")
_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)\n")


@dataclass(frozen=True)
class CodeBlock:
    """`language`: the word behind the fence; `line`: the number of the line with the fence."""

    language: str
    text: str
    line: int


def read_blocks(page: str) -> list[CodeBlock]:
    """The blocks of a page, also those in lists. Raise ValueError for a block without an end."""
    blocks = []
    lines = enumerate(page.splitlines(keepends=True), start=1)
    for number, line in lines:
        if not (fence := _FENCE.fullmatch(line)):
            continue
        indent, marks, language = fence.groups()
        text = ""
        for _, inner in lines:
            if inner.strip() == marks:
                break
            text += inner.removeprefix(indent)
        else:
            message = f"line {number}: the block has no end"
            raise ValueError(message)
        blocks.append(CodeBlock(language.strip(), text, number))
    return blocks


def _python(text: str) -> None:
    """Compile; an indented source is an excerpt of a class."""
    compile(f"class Excerpt:\n{text}" if text.startswith(" ") else text, "block", "exec")


def _jsonl(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def _ini(text: str) -> None:
    configparser.ConfigParser(interpolation=None).read_string(text)


def _yaml(text: str) -> None:
    """Parse mappings: prose is valid YAML, too."""
    for document in yaml.safe_load_all(text):
        if not isinstance(document, dict):
            message = f"expected a mapping, found {document!r}"
            raise TypeError(message)


def _csv(text: str) -> None:
    header, *rows = csv.reader(text.splitlines(), strict=True)
    for row in rows:
        if len(row) != len(header):
            message = f"expected {len(header)} cells, found {row}"
            raise ValueError(message)


def _console(text: str) -> None:
    if not commands(text):
        message = "a console block without a command"
        raise ValueError(message)


PARSERS: dict[str, Callable[[str], Any]] = {
    "python": _python,
    "json": json.loads,
    "jsonl": _jsonl,
    "toml": tomllib.loads,
    "ini": _ini,
    "yaml": _yaml,
    "jinja": jinja2.Environment(autoescape=True).parse,
    "csv": _csv,
    "console": _console,
}
#: Languages of blocks that are no code: output, messages, prompts, and tables of gates and models.
NO_CODE = ("text",)


def parse(block: CodeBlock) -> None:
    """Parse a block in its language; raise the parser's error, or ValueError for a language without a parser."""
    if block.language in NO_CODE:
        return
    if block.language not in PARSERS:
        message = f"line {block.line}: no parser for the language {block.language!r}"
        raise ValueError(message)
    PARSERS[block.language](block.text)


def commands(text: str) -> list[list[str]]:
    """The words of each command in the lines that begin with `$`, without variables; `&&` separates two commands."""
    lines = [shlex.split(line[2:], comments=True) for line in text.splitlines() if line.startswith("$ ")]
    return [
        list(dropwhile(_ASSIGNMENT.match, words))
        for line in lines
        for is_separator, words in groupby(line, lambda word: word == "&&")
        if not is_separator
    ]
