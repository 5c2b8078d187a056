"""Phrases of messages: a text in one line, a shortened text, a list of names, a count, a suggestion."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def one_line(text: object, limit: int | None = 200) -> str:
    """Return a text, such as the message of an error that quotes a file, in one line, shortened to the limit."""
    return shortened(" ".join(str(text).split()), limit)


def shortened(text: str, limit: int | None) -> str:
    """Return a text; if it is longer than the limit, its first `limit` characters and `...`."""
    return text if limit is None or len(text) <= limit else f"{text[:limit].rstrip()}..."


def shown(value: object, limit: int = 80) -> str:
    """Return a value as Python writes it, shortened to the limit; its type if Python cannot write it."""
    try:
        return shortened(repr(value), limit)
    except Exception:  # noqa: BLE001 - of any class; Python refuses to write whole numbers of over 4,300 digits
        return f"an object of the type {type(value).__name__}"


def described(error: BaseException) -> str:
    """Return the class and the message of an error in one line: `ValueError: no such key`."""
    return f"{type(error).__name__}: {one_line(error)}"


def named(names: Iterable[object], limit: int | None = None, *, separator: str = ", ") -> str:
    """Return `a.gguf, b.gguf and 3 more`, or `none`."""
    texts = list(map(str, names))
    first = texts[:limit]
    more = f" and {len(texts) - len(first):,} more" if len(first) < len(texts) else ""
    return f"{separator.join(first) or 'none'}{more}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return `1 cell` or `2,000 cells`; `several` is the plural if it is another than that with an `s`."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def megabytes(size: int) -> str:
    """Return a number of bytes in whole megabytes: `1,204`."""
    return f"{size / 2**20:,.0f}"


def did_you_mean(name: str, names: Iterable[str], *, similarity: float = 0.6) -> str:
    """Return `did you mean 'few_shot_3'? `, or an empty text if no name has the similarity (equal names have 1)."""
    nearest = get_close_matches(name, list(names), n=1, cutoff=similarity)
    return f"did you mean {nearest[0]!r}? " if nearest else ""


def there_are(name: str, names: Iterable[str], *, similarity: float = 0.6) -> str:
    """Return `did you mean 'typos'? there are: typos, whitespace`, for an unknown name."""
    known = list(names)
    return f"{did_you_mean(name, known, similarity=similarity)}there are: {named(known)}"
