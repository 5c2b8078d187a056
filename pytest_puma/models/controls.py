"""Controls that a user makes in Python, for the hook `pytest_puma_variants`.

Variant.of(quant("Q4_K_M"), steer(polite, strength=0.5, layers=10), lora("tone.gguf", strength=0.2), name="mix")
Variant.of(hook(halve, version="1", layers=10))
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from pytest_puma.core import Control, ModelError
from pytest_puma.core.variant import ControlKind, Layers, Scope
from pytest_puma.errors import SettingsError
from pytest_puma.models.choices import choice
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.names import name_from_file
from pytest_puma.models.pairs import SUFFIX
from pytest_puma.models.resolve import inspect_model, weights_point
from pytest_puma.models.search import user_cache
from pytest_puma.models.weights import weights_digest


def lora(path: str | Path, *, strength: float = 1.0) -> Control:
    """Return the control of a LoRA adapter's file; a `ModelError` if it cannot be read."""
    return Control(kind="lora", strength=strength, **_file(Path(path)))


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

    `layers`: one, or the first and the last; all of the vector by default. `name`: in place of that of the file; of a
    vector it is `vector` by default. `kind`: `ablate`, `rotate` or `when` for these hooks in place of an addition.
    `scope`: the tokens that it changes, `all`, `prompt`, `reply` or `last`.
    """
    path = _saved(vector) if isinstance(vector, ControlVector) else Path(vector)
    name = name or ("vector" if isinstance(vector, ControlVector) else "")
    chosen = (layers, layers) if isinstance(layers, int) else layers
    return Control(kind=kind, strength=strength, layers=chosen, scope=scope, **_file(path, name))


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
    identity = f"{name}\n{node}\n{version}".encode()
    return Control(
        kind="hook",
        name=name,
        sha256=hashlib.sha256(identity).hexdigest(),
        layers=(layers, layers) if isinstance(layers, int) else layers,
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


def _file(path: Path, name: str = "") -> dict[str, Any]:
    """The fields of a control that follow from its file."""
    name = name_from_file(name or path.name.removesuffix(SUFFIX))
    return {"name": name, "path": path.absolute(), "sha256": weights_digest(path)}


def _saved(vector: ControlVector) -> Path:
    """The file of a vector in the user's cache, where the engine reads it."""
    path = user_cache() / "vectors" / f"{vector.sha256}.gguf"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        vector.save(path)
    return path
