"""Names of models: from an alias or a file name, and back from the name in a run-spec.

A name is part of pytest ids and `-k` expressions, so it contains only ASCII letters, digits and any of . _ -. A `+`
separates it from the name of a variant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import compress

from pytest_puma.core import Model, ModelError
from pytest_puma.core.gate import PLAIN
from pytest_puma.core.variant import PLUS
from pytest_puma.models.search import without_suffix
from pytest_puma.phrases import there_are

_OTHER = re.compile(r"[^A-Za-z0-9._-]")
_SAME = str.maketrans(":_", "--")


def name_from_alias(alias: str) -> str:
    """Return the alias with `-` for `:`; a `ModelError` lists characters that a name cannot contain."""
    name = alias.replace(":", "-")
    invalid = " ".join(dict.fromkeys(map(repr, _OTHER.findall(name))))
    problem = f"contains {invalid}" if invalid else "" if name else "is empty"
    if problem:
        msg = (
            f"the alias {alias!r} {problem}; expected letters, digits and any of "
            ". _ - : only (a path with '=' in it must exist, or follow an alias)"
        )
        raise ModelError(msg)
    return name


def name_from_file(file_name: str) -> str:
    """Return the file's stem, with `_` for other characters: `Qwen 2.5-00001-of-00003.gguf` becomes `Qwen_2.5`."""
    name = _OTHER.sub("_", without_suffix(file_name))
    if not name:
        msg = f"the file name {file_name!r} gives no name to a model; give it one: alias=PATH"
        raise ModelError(msg)
    return name


def resolve_name(name: str, models: Sequence[Model]) -> Model:
    """Return the model that a run-spec means by a name such as Ollama's `qwen2.5:3b`.

    It is the model with exactly this name; else the one with the same name ignoring case, where `:`, `_` and `-` are
    equal; else the only one whose name continues after one of them: `qwen2.5-3b-instruct-q4_k_m`. A `ModelError` lists
    the models to choose from.
    """
    wanted = _normal(name)
    fits = (
        [model for model in models if model.name == name]
        or [model for model in models if _normal(model.name) == wanted]
        or [model for model in models if _normal(model.name).startswith(f"{wanted}-")]
    )
    if len(fits) == 1:
        return fits[0]
    problem = "matches several models" if fits else "is none of the models" if models else "is unknown: no models"
    listed = f" ({', '.join(model.name for model in fits or models)})" if models else ""
    msg = f"model {name!r} {problem}{listed}; name its file: --puma-model {name}=PATH"
    raise ModelError(msg)


def select_variants(patterns: Sequence[str], models: Sequence[Model]) -> tuple[Model, ...]:
    """Return the models whose variant matches one of the patterns; `plain` matches those without one.

    All models if none has a variant, so that a test for variants also runs without them. A `ModelError` names a pattern
    that matches none.
    """
    # By names, as models of an earlier run have nothing else of their variants.
    names = [model.name.partition(PLUS)[2] or PLAIN for model in models]
    if set(names) == {PLAIN}:
        return tuple(models)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            msg = f"variants: {pattern!r} matches no variant of this run; {there_are(pattern, dict.fromkeys(names))}"
            raise ModelError(msg)
    selected = [any(fnmatchcase(name, pattern) for pattern in patterns) for name in names]
    return tuple(compress(models, selected))


def _normal(name: str) -> str:
    return name.lower().translate(_SAME)
