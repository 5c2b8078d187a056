"""The variables by which a chat template lets a model think, or not.

There is no standard: the names and values are those of published templates. A template gets the variables that it
reads, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Names of a switch, with the values for off and for on. None leaves the variable undefined.
_SWITCHES: Mapping[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True),
    "thinking": (False, True),
    "thinking_mode": ("disabled", "enabled"),
    "thinking_budget": (0, None),
}
#: Names for the amount of thinking.
_EFFORTS = ("reasoning_effort", "thinking_effort", "reasoning_strength")
#: Values that mean no thoughts, or few; a template spells those that it knows.
_LEAST = ("none", "no_think", "minimal", "low")


def switches(names: frozenset[str], source: str, *, thinking: bool, effort: str | None) -> dict[str, Any]:
    """Return the variables for a template that reads `names`; `effort` is the user's own word for the amount."""
    values = {name: pair[thinking] for name, pair in _SWITCHES.items() if name in names}
    values |= {name: effort or _effort(source, thinking=thinking) for name in efforts(names)}
    return {name: value for name, value in values.items() if value is not None}


def efforts(names: frozenset[str]) -> list[str]:
    """Return the names for the amount of thinking that a template reads."""
    return [name for name in _EFFORTS if name in names]


def _effort(source: str, *, thinking: bool) -> str | None:
    """The value without a user's word: the least that the template knows; with thoughts, its own default.

    A template whose default is no thoughts spells `no_think`; it gets the most.
    """
    known = [value for value in _LEAST if f'"{value}"' in source or f"'{value}'" in source]
    if thinking:
        return "high" if "no_think" in known else None
    return known[0] if known else _LEAST[-1]
