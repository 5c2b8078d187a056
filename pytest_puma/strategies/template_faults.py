"""The fault that ends the rendering of a template: its place, and a sentence."""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_puma.errors import did_you_mean, one_line

if TYPE_CHECKING:
    import jinja2

#: The messages of Jinja2 for `{{ subjct }}` and for `{{ instance.subjct }}`.
_MISSING = re.compile(r"'(\w+)'(?: is undefined)?$")
_MAX_REASON = 300


def fault(error: Exception, variables: Mapping[str, Any], hidden: Collection[str]) -> str:
    """The fault, with a suggestion if a name does not exist."""
    message = reason(error)
    missing = _MISSING.search(message)
    name = missing[1] if missing else ""
    owner = _owner(error)
    of_example = any(owner is each for each in variables.get("examples", ()))
    if name in hidden and not of_example:
        return f"{name!r} reveals the gold answer, which no prompt may show; remove it"
    if owner is not None:
        named = "an example" if of_example else "instance" if owner is variables.get("instance") else ""
        fields = sorted(map(str, owner))
        there = one_line(f"{did_you_mean(name, fields)}its fields are: {', '.join(fields) or 'none'}", _MAX_REASON)
        return f"{f'{named} has no field {name!r}' if named and name else message}; {there}"
    there = ", ".join(sorted(variables)) or "none"
    return f"{message}; {did_you_mean(name, variables) if name else ''}the variables are: {there}"


def _owner(error: Exception) -> Mapping[Any, Any] | None:
    """The mapping that lacks a field, as `ex` in `{{ ex.label }}`; None if the fault is another one."""
    import jinja2

    # Jinja2 raises the error in a method of the undefined value, which knows its owner.
    *_, (last, _) = traceback.walk_tb(error.__traceback__)
    undefined = last.f_locals.get("self")
    owner = undefined._undefined_obj if isinstance(undefined, jinja2.Undefined) else None  # noqa: SLF001 - documented
    return owner if isinstance(owner, Mapping) else None


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
