"""Markdown fences: the lines of three backticks or tildes around a block of code.

```json
{"total": 5}
```
"""

from __future__ import annotations

import re

_FENCED = re.compile(
    r"^[ ]{0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)(?:\n?^[ ]{0,3}\1[`~]*[ \t\r]*$|\Z)", re.DOTALL | re.MULTILINE
)


def blocks(text: str) -> list[str]:
    """Return the contents of all fenced blocks; a block that is never closed ends with the text."""
    return [match[2] for match in _FENCED.finditer(text)]


def unfenced(text: str) -> str:
    """Return the text without white space, and without a fence around all of it."""
    text = text.strip()
    match = _FENCED.match(text)
    return match[2].strip() if match and match.end() == len(text) else text


def content(text: str) -> str:
    """Return the longest fenced block of a text, or the whole text if it has none."""
    return max(blocks(text), key=len, default=text).strip()
