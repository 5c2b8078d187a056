"""Markdown fences of a reply: the lines of three backticks or tildes around a block of code.

```json
{"total": 5}
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def blocks(text: str) -> list[str]:
    """Return the contents of all fenced blocks; a block that is never closed ends with the text."""
    return [block for _, _, block in _fenced(text)]


def unfenced(text: str) -> str:
    """Return the text without white space, and without a fence around all of it."""
    text = text.strip()
    start, end, block = next(_fenced(text), (0, 0, ""))
    return block.strip() if (start, end) == (0, len(text)) else text


def longest(text: str) -> str:
    """Return the longest fenced block of a text, or the whole text if it has none."""
    return max(blocks(text), key=len, default=text)


def content(text: str) -> str:
    """Return the longest fenced block, or the whole text if it has none, without white space around it."""
    return longest(text).strip()


def _fenced(text: str) -> Iterator[tuple[int, int, str]]:
    """The blocks: where the first fence begins and the last one ends, and the text between."""
    fence, begin, start, position = "", 0, 0, 0
    # Line by line: a regular expression over all of the text would need quadratic time.
    for line in text.split("\n"):
        end = position + len(line)
        if fence and _closes(line, fence):
            yield begin, end, text[start:position].removesuffix("\n")
            fence = ""
        elif not fence and (fence := _opened(line)):
            begin, start = position, end + 1
        position = end + 1
    if fence and start <= len(text):
        yield begin, len(text), text[start:]


def _opened(line: str) -> str:
    """The fence that a line begins with; empty for none."""
    fence = _FENCE.match(line)
    return fence[1] if fence and "`" not in line[fence.end() :] else ""


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not line[found.end() :].rstrip(" \t\r").strip("`~")
