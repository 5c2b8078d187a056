"""Files under a wrong name that are probably meant to be a missing template.

    prompts/garden/Checklist.jinja, check-list.jinja, checklist.jinja2     ->     prompts/garden/checklist.jinja
    prompts/gardn/checklist.jinja

Case, hyphens, underscores and suffixes do not matter, nor a small difference of the folder.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

SUFFIX = ".jinja"
#: Stands for the folder of the scenario where a message cannot know it.
ANY = "<scenario>"
#: The name of a template that makes a strategy.
NAME = re.compile(r"[a-z][a-z0-9_]*")


def misnamed(template: Path) -> Path | None:
    """Return the file that is probably meant to be a missing template; None if there is none."""
    files = sorted(file for file in template.parent.parent.glob("*/*") if file.is_file())
    folders = {file.parent.name: file for file in reversed(files) if _letters(file) == _letters(template)}
    own = template.parent.name
    near = folders if own == ANY else get_close_matches(own, folders)
    return next((folders[name] for name in near), None)


def own_strategy(name: str, folder: Path | None) -> tuple[str, str]:
    """Return the advice to rename a file so that it makes a strategy, and else that to write one; empty for none.

    `folder` has the templates of the scenario, None if it is unknown.
    """
    if folder is None or not NAME.fullmatch(name):
        return "", ""
    file = misnamed(folder / (name + SUFFIX))
    folder = file.parent if file is not None and folder.name == ANY else folder
    advice = f"a strategy of your own needs the file {folder / (name + SUFFIX)}"
    return ("", advice) if file is None else (f"{advice}: rename {file} to it", "")


def _letters(file: Path) -> str:
    """The name without case, separators and suffixes; that of a partial keeps its underscore."""
    stem = file.name.partition(".")[0]
    partial = "_" if stem.startswith("_") else ""
    return partial + re.sub(r"[\W_]", "", stem).casefold()
