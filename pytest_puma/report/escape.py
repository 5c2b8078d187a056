r"""Text made safe for where it goes: one function an output.

Sample ids, labels, answers, prompts, file names and the names that a project gives come from anywhere. What could move
a cursor, hide or reorder text is written as Python writes it in a string, `\x1b`, in all outputs.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

#: Controls, formats (bidirectional overrides, what has no width), lone surrogates, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Writing systems and emoji need the joiners.
_NEEDED = frozenset("\u200c\u200d")
#: CI systems take such a line for a command: `::error::` behind blanks (GitHub), `##[...]` (GitHub, Azure) and
#: `##vso[...]` (Azure), `##teamcity[...]` anywhere.
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)

#: What GitHub and GitLab make a link or a mention of: it is shown as code, where they make nothing of it.
_LINK = re.compile(r"[^\s`|]*(?:@|://|www\.|[#!]\d)(?:[^\s`|]*[^\s`|:;,.])?", re.IGNORECASE)
_MARKUP = re.compile(r"[\\*<&|~$]|\](?=[(\[:])|(?<!\w)_+|_+(?!\w)")
#: At the beginning of a line or list item it would begin a heading, a list, a quotation, a rule or a check box.
_BLOCK = re.compile(r"^(?:[=#>]|\[(?=[ x]\])|[-+](?=[-\s])|\d+(?=[.)](?:\s|$)))", re.IGNORECASE)

#: Spreadsheets calculate a cell that begins with one of these, the wide forms of East Asian keyboards among them.
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def terminal(text: str) -> str:
    """One line that a terminal shows as it is, and that no CI system takes for a command."""
    return _COMMAND.sub(_without_sign, _visible(text))


def terminal_lines(text: str) -> str:
    """The same of a text that may have several lines."""
    return "\n".join(map(terminal, text.split("\n")))


def markdown(text: str) -> str:
    """One line, for anywhere in a Markdown document, table cells included, that means nothing but its characters."""
    flat = _visible(" ".join(text.split()))
    parts: list[str] = []
    start = 0
    for link in _LINK.finditer(flat):
        parts += [_plain(flat[start : link.start()], first=not start), f"`{link[0]}`"]
        start = link.end()
    return "".join([*parts, _plain(flat[start:], first=not start)])


def html(text: str) -> str:
    """One line, for inside an HTML element."""
    return escape(_visible(text))


def csv(value: object) -> object:
    """A cell that no spreadsheet calculates: text that begins as a formula gets a `'` in front; numbers stay numbers.

    Line breaks and tabs are kept, as the cell is quoted.
    """
    if not isinstance(value, str):
        return value
    text = _visible(value, keep="\n\t")
    return f"'{text}" if text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def xml(text: str) -> str:
    """The value of an attribute, without the characters that XML 1.0 has not."""
    return re.sub("[\ufffe\uffff]", _written_out, _visible(text))


def _visible(text: str, keep: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(_code(each) if _is_hidden(each) and each not in keep else each for each in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in _NEEDED


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _written_out(match: re.Match[str]) -> str:
    return _code(match[0])


def _without_sign(match: re.Match[str]) -> str:
    return f"{match[1] or ''}\\x{ord(match[0][-1]):02x}"


def _plain(text: str, *, first: bool) -> str:
    """Running text with a backslash before what is markup; `first`: it may stand at the beginning of a block."""
    # An entity: behind a backslash, a backtick would lengthen the fence of a code span beside it.
    text = _MARKUP.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), text).replace("`", "&#96;")
    return _BLOCK.sub(_without_block, text) if first else text


def _without_block(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if not match[0][0].isdigit() else f"{match[0]}\\"
