"""JSON of files: one `ValueError` for everything that cannot be used, as files may be damaged or hostile."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

#: Lists and objects inside each other; the files of this package and data sets have some ten.
MAX_DEPTH = 100


def parse_json(text: str | bytes) -> Any:
    """Return a value of strict JSON, as this package writes it. A `ValueError` gives the fault in a few words."""
    text = text.decode() if isinstance(text, bytes) else text
    value = _parsed(text, _STRICT)
    if "\\ud" in text or "\\uD" in text:
        # No file, terminal or database takes half of a character.
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            msg = f"it has half of a character ({error.object[error.start]!a})"
            raise ValueError(msg) from error
    return value


def parse_foreign_json(text: str | bytes) -> Any:
    """Return a value of JSON that others wrote: NaN is a number, but no object has a key twice."""
    return _parsed(text.decode() if isinstance(text, bytes) else text, _FOREIGN)


def _parsed(text: str, decoder: json.JSONDecoder) -> Any:
    """The value of a text, unless it is so deep that functions which walk through it would fail."""
    if text.startswith("\ufeff"):
        msg = "it begins with a byte order mark; expected UTF-8 without one"
        raise ValueError(msg)
    try:
        value = decoder.decode(text)
    except RecursionError as error:
        raise _deep() from error
    except ValueError as error:
        if "integer string conversion" in str(error):  # Python's own sentence is about programs
            msg = "a whole number has thousands of digits"
            raise ValueError(msg) from error
        raise
    if text.count("[") + text.count("{") > MAX_DEPTH and _levels(value) > MAX_DEPTH:
        raise _deep()
    return value


def _levels(value: Any) -> int:
    """The number of lists and objects inside each other, as far as `MAX_DEPTH` and one more."""
    level = [value]
    for depth in range(MAX_DEPTH + 1):
        outer = [part for part in level if isinstance(part, dict | list)]
        if not outer:
            return depth
        level = [part for parts in outer for part in (parts.values() if isinstance(parts, dict) else parts)]
    return MAX_DEPTH + 1


def _deep() -> ValueError:
    return ValueError(f"it is nested too deeply, more than {MAX_DEPTH} levels")


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        msg = f"the number {digits[:20]} is too large"
        raise ValueError(msg)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"the key {twice[:40]!r} is there twice"
        raise ValueError(msg)
    return value


#: Made once: most texts are short.
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_FOREIGN = json.JSONDecoder(object_pairs_hook=_unique)
