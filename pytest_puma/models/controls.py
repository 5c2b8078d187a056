"""Controls that a user makes in Python, for the hook `pytest_puma_variants`.

Variant.of(quant("Q4_K_M"), steer(polite, strength=0.5, layers=10), lora("tone.gguf", strength=0.2), name="mix")
Variant.of(hook(halve, version="1", layers=10))
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from inspect import signature
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any, get_args

from pytest_puma.core import Control, ModelError
from pytest_puma.core.variant import ControlKind, Layers, Scope
from pytest_puma.errors import SettingsError
from pytest_puma.models.choices import choice
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.names import name_from_file
from pytest_puma.models.resolve import control_fields, inspect_model, weights_point
from pytest_puma.models.search import user_cache
from pytest_puma.phrases import shown, there_are

#: Kinds of a vector.
_VECTORS: tuple[ControlKind, ...] = ("steer", "ablate", "rotate", "heads", "when")
_SCOPES: tuple[Scope, ...] = get_args(Scope)


def lora(path: str | Path, *, strength: float = 1.0) -> Control:
    """Return the control of a LoRA adapter's file; a `ModelError` if it cannot be read."""
    file = control_fields(Path(path))
    return Control(kind="lora", strength=_strength(f"lora {file['name']!r}", strength), **file)


def steer(
    vector: ControlVector | str | Path,
    *,
    strength: float = 1.0,
    layers: int | Layers | None = None,
    name: str = "",
    kind: ControlKind = "steer",
    scope: Scope = "all",
) -> Control:
    """Return the control of a vector, or of the file of one or of pairs of texts; a `ModelError` if it cannot be read.

    A `SettingsError` for another value that is invalid.
    `layers`: one, or the first and the last; all of the vector by default. `name`: in place of that of the file; of a
    vector it is `vector` by default. `kind`: `ablate`, `rotate`, `heads` or `when` in place of an addition.
    `scope`: the tokens that it changes, `all`, `prompt`, `reply` or `last`.
    """
    path = _saved(vector) if isinstance(vector, ControlVector) else Path(vector)
    name = name or ("vector" if isinstance(vector, ControlVector) else "")
    file = control_fields(path, name)
    source = f"steer {file['name']!r}"
    _check_word(source, "kind", kind, _VECTORS)
    # A condition decides behind the prompt.
    _check_word(source, "scope", scope, ("all",) if kind == "when" else _SCOPES)
    chosen = None if layers is None else _layers(source, layers)
    return Control(kind=kind, strength=_strength(source, strength), layers=chosen, scope=scope, **file)


def quant(weights: str | Path) -> Control:
    """Return the control of other weights: of a type that is made of the model's file, or those of another file of it.

    A `ModelError` if it is neither.
    """
    control, *others = (weights_point(value, ()) for value in choice("quant", str(weights)).values)
    if control is None or others:
        msg = f"quant({str(weights)!r}): expected one type or file; the plain model is no variant"
        raise ModelError(msg)
    if control.sha256:
        inspect_model(control.path)
    return control


def hook(
    function: Callable[..., Any],
    *,
    layers: int | Layers,
    version: str = "",
    node: str = "l_out",
    scope: Scope = "all",
    name: str = "",
) -> Control:
    """Return the control of a function that changes hidden states; a `SettingsError` for a mistake.

    `function(rows, where)` gets the states of some tokens, float32 of tokens x width, and returns others of the same
    form. `where`, the `engine.hook.Rows` of these tokens, has their `sequence` and `position`, and whether they belong
    to the `reply`, or are the `last` ones of their prompt. The states of a row must follow from this row alone, as
    prompts share their beginnings. `version`: identifies what the function does, as kept answers belong to it.
    `layers`: one, or the first and the last. `node`: the node of llama.cpp's graph, without its layer. `scope`: the
    tokens that it gets. `name`: in place of that of the function.
    """
    name = name_from_file(name or getattr(function, "__name__", "hook"))
    fits = _takes_two(function)
    if not fits or not isinstance(version, str) or not version.strip():
        found = f"version {version!r}" if fits else repr(function)
        msg = (
            f"hook {name!r}: found {found}; expected a function of states and rows, and a version, as "
            "hook(halve, version='1', layers=10)"
        )
        raise SettingsError(msg)
    _check_word(f"hook {name!r}", "scope", scope, _SCOPES)
    identity = f"{name}\n{node}\n{version}".encode()
    return Control(
        kind="hook",
        name=name,
        sha256=hashlib.sha256(identity).hexdigest(),
        layers=_layers(f"hook {name!r}", layers),
        scope=scope,
        node=node,
        change=function,
    )


def _takes_two(function: object) -> bool:
    """Whether it can be called with states and rows, unlike a hook of PyTorch."""
    try:
        signature(function).bind(None, None)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _strength(source: str, value: object) -> float:
    """A strength, of which no type of numpy is left, as it stands in names; a `SettingsError` if it is no number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        msg = f"{source}: found strength {shown(value)}; expected a finite number, such as 0.5"
        raise SettingsError(msg)
    return value if isinstance(value, int) else float(value)


def _layers(source: str, value: object) -> Layers:
    """The first and the last layer; a `SettingsError` if they are none."""
    try:
        first, last = map(index, value if isinstance(value, tuple) else (value, value))
    except (TypeError, ValueError):
        first = last = 0
    if not 1 <= first <= last:
        msg = (
            f"{source}: found layers {shown(value)}; expected one from 1 on, or a tuple of the first and the last, as "
            "in layers=10 or layers=(8, 20)"
        )
        raise SettingsError(msg)
    return first, last


def _check_word(source: str, what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        msg = f"{source}: found {what} {shown(value)}; {there_are(str(value), known)}"
        raise SettingsError(msg)


def _saved(vector: ControlVector) -> Path:
    """The file of a vector in the user's cache, where the engine reads it."""
    path = user_cache() / "vectors" / f"{vector.sha256}.gguf"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        vector.save(path)
    return path
