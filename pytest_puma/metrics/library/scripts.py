"""Classes of characters for regular expressions: scripts in which words are not the runs that Python finds."""

from __future__ import annotations

#: Kana and Han, which have no spaces between words.
UNSPACED = r"\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: Signs that are no letters for Python: accents, vowels of Hebrew, Arabic and Thai, and all characters of the scripts
#: of India but their full stops.
SIGNS = (
    r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
