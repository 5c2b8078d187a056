"""Names of models: from an alias or a file name, and back from the name that a run-spec uses.

A name goes into pytest ids and `-k` expressions, so it has ASCII letters, digits and any of . _ - + only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_puma.core import Model, ModelError
from pytest_puma.models.parts import without_suffix

_OTHER = re.compile(r"[^A-Za-z0-9._+-]")
_SAME = str.maketrans(":_", "--")


def name_from_alias(alias: str) -> str:
    """The alias with `-` for `:`; a `ModelError` shows any other character that a name cannot have."""
    name = alias.replace(":", "-")
    other = " ".join(dict.fromkeys(map(repr, _OTHER.findall(name))))
    if other or not name:
        msg = (
            f"the alias {alias!r} {f'has {other} in it' if other else 'is empty'}; expected letters, digits and any of "
            ". _ - + : only (a path with '=' in it must exist, or follow an alias)"
        )
        raise ModelError(msg)
    return name


def name_from_file(file_name: str) -> str:
    """The file's stem, `_` for what a name cannot have: `Qwen 2.5-00001-of-00003.gguf` is `Qwen_2.5`."""
    name = _OTHER.sub("_", without_suffix(file_name))
    if not name:
        msg = f"the file name {file_name!r} gives no name to a model; give it one: alias=PATH"
        raise ModelError(msg)
    return name


def resolve_name(name: str, models: Sequence[Model]) -> Model:
    """The model that a run-spec means by a name such as Ollama's `qwen2.5:3b`.

    It is the model of exactly this name; else of the same name but for upper and lower case, where `:`, `_` and
    `-` are the same; else the only one whose name goes on with one of those: `qwen2.5-3b-instruct-q4_k_m`. A
    `ModelError` lists the models to choose from.
    """
    wanted = _normal(name)
    fits = (
        [model for model in models if model.name == name]
        or [model for model in models if _normal(model.name) == wanted]
        or [model for model in models if _normal(model.name).startswith(f"{wanted}-")]
    )
    if len(fits) == 1:
        return fits[0]
    found = "fits several of the models" if fits else "is none of the models" if models else "is unknown: no models"
    there = f" ({', '.join(model.name for model in fits or models)})" if models else ""
    msg = f"model {name!r} {found}{there}; say which file it is: --puma-model {name}=PATH"
    raise ModelError(msg)


def _normal(name: str) -> str:
    return name.lower().translate(_SAME)
