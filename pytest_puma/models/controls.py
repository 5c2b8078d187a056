"""Controls that a user makes in Python, for the hook `pytest_puma_variants`.

Variant.of(steer(polite, strength=0.5, layers=10), lora("tone.gguf", strength=0.2), name="mix")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_puma.core import Control
from pytest_puma.core.variant import ControlKind, Layers, Scope
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.names import name_from_file
from pytest_puma.models.pairs import SUFFIX
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
