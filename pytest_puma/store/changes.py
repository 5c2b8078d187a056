"""What has changed between two requests for the same cell, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.baseline import changed_parts

#: Characters of a digest that a sentence shows.
_DIGITS = 8


def changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each part in which two signatures differ; none if one is unknown."""
    if not then or not now:
        return []
    parts = changed_parts(now, {**then, "engine": now.get("engine", {})})
    sentences = [f"{name} is another one ({_shown(old)}, now {_shown(new)})" for name, (old, new) in parts.items()]
    if then.get("samples") != now.get("samples"):
        sentences.append(f"the number of samples was {then.get('samples')} and is {now.get('samples')}")
    return sentences


def _shown(value: object) -> str:
    if isinstance(value, str) and len(value) == len("0" * 64):
        return value[:_DIGITS]
    return str(value)
