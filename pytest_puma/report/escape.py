r"""Escaping of untrusted text: one function for each output.

Sample ids, labels, answers, prompts, file names and names from the project are untrusted. Characters that move the
cursor, hide or reorder text are written as in a Python string, `\x1b`, in all outputs.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

#: Controls, formats (bidirectional overrides, zero width), lone surrogates, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: Joiners, which writing systems and emoji need.
_NEEDED = frozenset("\u200c\u200d")
#: Lines that CI systems execute as commands: `::error::` behind blanks (GitHub), `##[...]` (GitHub, Azure) and
#: `##vso[...]` (Azure), `##teamcity[...]` anywhere.
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)

#: Characters of a line: messages may hold values of files; they end with the advice.
_MAX_LINE, _HEAD, _TAIL = 2000, 1500, 400

#: What makes GitHub and GitLab turn a word into a link or a mention, except in code: it is shown as code.
_LINK = re.compile(r"@|://|www\.|[#!]\d|\bGH-\d|%\w", re.IGNORECASE)
#: A word: no link contains these characters.
_WORD = re.compile(r"[^\s`|]+")
_BEHIND_LINK = ":;,."
_MARKUP = re.compile(r"[\\*<&|~$]|\](?=[(\[:])|_+")
#: The beginning of a heading, a list, a quotation, a rule or a check box at the start of a line or list item.
_BLOCK = re.compile(r"^(?:[=#>]|\[(?=[ x]\])|[-+](?=[-\s])|\d+(?=[.)](?:\s|$)))", re.IGNORECASE)

#: First characters of a formula in spreadsheets, with the wide forms of East Asian keyboards.
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def terminal(text: str) -> str:
    """Return one line that a terminal shows unchanged and no CI system executes; a very long one without its middle."""
    return _shortened(_COMMAND.sub(_without_sign, _visible(text)))


def terminal_lines(text: str) -> str:
    """Apply `terminal` to each line of a text."""
    return "\n".join(map(terminal, text.split("\n")))


def markdown(text: str) -> str:
    """Return one line without markup, for any place in a Markdown document, table cells included.

    A very long text is shown without its middle.
    """
    flat = _visible(" ".join(_shortened(text).split()))
    parts: list[str] = []
    start = 0
    for word in _WORD.finditer(flat):
        if link := _link(word[0]):
            parts += [_plain(flat[start : word.start()], first=not start), f"`{link}`"]
            start = word.start() + len(link)
    return "".join([*parts, _plain(flat[start:], first=not start)])


def markdown_code(text: str) -> str:
    """Return one line as a code span, such as a command; a very long one without its middle."""
    flat = _visible(" ".join(_shortened(text).split()))
    return f"`` {flat} ``" if "`" in flat else f"`{flat}`"


def html(text: str) -> str:
    """Return one line, for the text of an HTML element; a very long one without its middle."""
    return escape(_visible(_shortened(text)))


def unmarked(text: str) -> str:
    """Return one line for a template that escapes the signs of HTML itself; a very long one without its middle."""
    return _shortened(_visible(text))


def csv(value: object) -> object:
    """Return a cell that no spreadsheet evaluates: text like a formula gets a `'` in front; numbers stay numbers.

    Line breaks and tabs stay, as the cell is quoted.
    """
    if not isinstance(value, str):
        return value
    text = _visible(value, keep="\n\t")
    return f"'{text}" if text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def xml(text: str) -> str:
    """Return the value of an attribute, without characters that XML 1.0 forbids."""
    return "".join(_code(character) if character in "\ufffe\uffff" else character for character in _visible(text))


def _visible(text: str, keep: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(
        _code(character) if _is_hidden(character) and character not in keep else character for character in text
    )


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE else f"{line[:_HEAD]} ... {line[-_TAIL:]}"


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in _NEEDED


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _without_sign(match: re.Match[str]) -> str:
    return f"{match[1] or ''}\\x{ord(match[0][-1]):02x}"


def _link(word: str) -> str:
    """Return the word without the punctuation behind it if it would become a link, else nothing."""
    last = max((sign.end() for sign in _LINK.finditer(word)), default=0)
    return word[: max(last, len(word.rstrip(_BEHIND_LINK)))] if last else ""


def _plain(text: str, *, first: bool) -> str:
    """Escape markup with backslashes; `first`: the text may be at the beginning of a block."""
    # An entity, as a backtick behind a backslash would lengthen the fence of a code span beside it.
    text = _MARKUP.sub(_without_markup, text).replace("`", "&#96;")
    return _BLOCK.sub(_without_block, text) if first else text


def _without_markup(match: re.Match[str]) -> str:
    """Escape each sign, except underscores within a word."""
    around = (match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1])
    if match[0][0] == "_" and all(map(str.isalnum, around)):
        return match[0]
    return "".join(f"\\{sign}" for sign in match[0])


def _without_block(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if not match[0][0].isdigit() else f"{match[0]}\\"
