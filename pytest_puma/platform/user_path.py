"""Paths as a user writes them, in options, ini keys and arguments of the command."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_puma.errors import SettingsError


def user_path(text: str, *, where: str = "") -> Path:
    """Return a path, with the home of a user for `~`, which the shell does not expand after `=` or `:`.

    A `SettingsError` if no file can have this path; `where` names the option, by default the path alone is named.
    """
    source = where or f"{text!r}"
    if "\0" in text:
        msg = f"{source}: a path cannot contain the character NUL; expected the path of a file or folder"
        raise SettingsError(msg)
    expanded = os.path.expanduser(text)  # noqa: PTH111 - Path's own raises without a name of the user
    if expanded.startswith("~"):
        user = expanded.partition("/")[0]
        msg = (
            f"{source}: there is no user {user[1:]!r}; "
            f"expected ~/... for your own home, or ./{user} for a file or folder of this name"
        )
        raise SettingsError(msg)
    return Path(expanded)
