"""JSON of files: one `ValueError` for everything that cannot be used, as files may be damaged or hostile."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

#: Lists and objects inside each other; the files of this package and data sets have some ten.
MAX_DEPTH = 100


def parse_json(text: str | bytes) -> Any:
    """Return a value of strict JSON, as this package writes it. A `ValueError` gives the fault in a few words."""
    # Python's parser would take bytes of other encodings too, and halves of characters.
    text = text.decode() if isinstance(text, bytes) else text
    value = _parsed(text, parse_constant=_refuse_constant, parse_float=_finite)
    return _whole_characters(text, _flat_enough(text, value))


def parse_foreign_json(text: str | bytes) -> Any:
    """Return a value of JSON that others wrote: NaN is a number, but no object has a key twice."""
    return _flat_enough(text, _parsed(text, object_pairs_hook=_unique))


def _parsed(text: str | bytes, **hooks: Any) -> Any:
    try:
        return json.loads(text, **hooks)
    except RecursionError as error:
        raise _deep() from error
    except ValueError as error:
        if "integer string conversion" in str(error):  # Python's own sentence is about programs
            msg = "a whole number has thousands of digits"
            raise ValueError(msg) from error
        raise


def _flat_enough(text: str | bytes, value: Any) -> Any:
    """The value, unless it is so deep that functions which walk through it would fail."""
    opened = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    level = [value] if opened > MAX_DEPTH else []
    for _ in range(MAX_DEPTH):
        if not level:
            break
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
    if any(isinstance(each, dict | list) for each in level):
        raise _deep()
    return value


def _whole_characters(text: str, value: Any) -> Any:
    """The value, unless a text of it is half of a character, which no file, terminal or database takes."""
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            msg = f"it has half of a character ({error.object[error.start]!a})"
            raise ValueError(msg) from error
    return value


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
