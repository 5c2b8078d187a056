"""The fault that ends the rendering of a template: its place, and a sentence."""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_puma.core.errors import did_you_mean, one_line

if TYPE_CHECKING:
    import jinja2

#: The messages of Jinja2 for `{{ subjct }}` and for `{{ instance.subjct }}`.
_MISSING = re.compile(r"'(\w+)'(?: is undefined)?$")
_MAX_REASON = 300


def fault(error: Exception, variables: Mapping[str, Any], hidden: Collection[str]) -> str:
    """The fault, with a suggestion if a name does not exist."""
    from pytest_puma.engine.budget import LimitError

    found = reason(error)
    if isinstance(error, LimitError):
        return f"{found}; expected a prompt of ordinary size: shorten its loops and texts"
    missing = _MISSING.search(found)
    name = missing[1] if missing else ""
    if name in hidden:
        return f"{name!r} reveals the gold answer, which no prompt may show; remove it"
    there = ", ".join(sorted(variables)) or "none"
    return f"{found}; {did_you_mean(name, variables) if name else ''}the variables are: {there}"


def reason(error: Exception) -> str:
    """The message of an error in one line of limited length; a variable's text may be part of it."""
    return one_line(str(error) or type(error).__name__, _MAX_REASON)


def place(error: Exception, path: Path) -> str:
    """File and line of the innermost template code that the error passed through."""
    place = str(path)
    for frame, line in traceback.walk_tb(error.__traceback__):
        template: jinja2.Template | None = frame.f_globals.get("__jinja_template__")
        if template is not None:
            place = f"{template.filename}, line {template.get_corresponding_lineno(line)}"
    return place
