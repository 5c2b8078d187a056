"""Changes of the signature between two requests for the same cell, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.baseline.entry import PARSER, changed_parts
from pytest_puma.responses.recipe import DIGITS

#: Characters of a digest.
_DIGEST = 64


def changes(then: Mapping[str, Any], now: Mapping[str, Any], *, read: bool = True) -> list[str]:
    """Return a sentence for each part in which two signatures differ; none if one is unknown.

    A signature without the engine is compared without it. `read`: with the parser, which is no cause of other replies.
    """
    if not then or not now:
        return []
    engine: Mapping[str, Any] = now.get("engine", {})
    parts = changed_parts(now, {"engine": engine, **then})
    named = {name: values for name, values in parts.items() if read or name != PARSER}
    sentences = [f"{name} is another one ({_both(old, new)})" for name, (old, new) in named.items()]
    if then.get("samples") != now.get("samples"):
        sentences.append(f"the number of samples was {then.get('samples')} and is {now.get('samples')}")
    return sentences


def _both(old: object, new: object) -> str:
    """Both values; of two tables the entries that differ."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return f"{_shown(old)}, now {_shown(new)}"
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return "; ".join(f"{name}: {_shown(old.get(name))}, now {_shown(new.get(name))}" for name in names)


def _shown(value: object) -> str:
    text = str(value)
    return text[:DIGITS] if len(text) == _DIGEST else text
