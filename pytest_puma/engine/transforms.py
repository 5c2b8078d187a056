"""The changes of hidden states that controls of a model ask for. Pure: numbers in, numbers out.

`h` is a state, `u` the direction of its layer, of length 1. Each row is computed for itself and in the same way in any
batch, so that a state does not depend on those beside it.

ablate   h - strength * (h . u) u, without the part along the direction. Source: A. Arditi et al., "Refusal in language
         models is mediated by a single direction", NeurIPS 2024.
heads    x + strength * d, where x are the outputs of all attention heads of a layer side by side, before their output
         matrix, and d has zeros for the heads that are left alone. Source: K. Li et al., "Inference-time intervention:
         eliciting truthful answers from a language model", NeurIPS 2023, where d is sigma * theta of each chosen head.
rotate   cos(a) h + sin(a) |h| t, where t is the part of u that is orthogonal to h, of length 1: a rotation by the angle
         a in the plane of the state and the direction, towards it, which keeps the norm. Source: H. Vu and T. Nguyen,
         "Angular steering: behavior control via rotation in activation space", NeurIPS 2025; there, in one plane of
         two directions for all states, to an angle and not by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Control, EngineError
from pytest_puma.core.variant import ControlKind, Scope
from pytest_puma.engine.hook import Change, Hook, Rows, Scoped, States

#: States in, states out; the same for each token.
Transform: TypeAlias = Callable[[States], States]
#: A squared norm, and the sine of an angle, below which rounding decides.
_SMALL, _PARALLEL = np.float32(1e-20), np.float32(1e-4)


def addition(direction: States, strength: float) -> Transform:
    """Return a change that adds a direction of any length to states, as llama.cpp does with a control vector."""
    added = np.float32(strength) * direction
    return lambda states: states + added


def ablation(direction: States, strength: float) -> Transform:
    """Return a change that takes this part of the component along a direction of length 1 out of states."""
    factor = np.float32(strength)
    return lambda states: states - factor * _along(states, direction)[:, None] * direction


def rotation(direction: States, degrees: float) -> Transform:
    """Return a change that rotates states by an angle towards a direction of length 1, or away from it below 0."""
    cosine, sine = np.float32(math.cos(math.radians(degrees))), np.float32(math.sin(math.radians(degrees)))

    def rotated(states: States) -> States:
        square: States = np.maximum(_inner(states, states), _SMALL)[:, None]
        tangent: States = direction - _along(states, direction)[:, None] / square * states
        length = np.sqrt(_inner(tangent, tangent))[:, None]
        moved = cosine * states + sine * np.sqrt(square) / np.maximum(length, _SMALL) * tangent
        # A state along the direction, or of zeros, has no plane with it.
        return np.where((length > _PARALLEL) & (square > _SMALL), moved, states)

    return rotated


_TRANSFORMS: Mapping[ControlKind, Callable[[States, float], Transform]] = {
    "steer": addition,
    "heads": addition,
    "ablate": lambda direction, strength: ablation(_unit(direction), strength),
    "rotate": lambda direction, degrees: rotation(_unit(direction), degrees),
}
#: The rows of each scope.
SCOPES: Mapping[Scope, Scoped] = {
    "all": lambda rows: np.ones(len(rows), dtype=np.bool_),
    "prompt": lambda rows: ~rows.reply,
    "reply": lambda rows: rows.reply,
    "last": lambda rows: rows.last,
}


def hooks_of(control: Control, directions: NDArray[np.float32], scope: Scoped) -> list[Hook]:
    """Return the hooks of a control with a direction for each layer from 1 on, on the tokens of a scope.

    Zeros leave a layer alone.
    """
    transform, node = _TRANSFORMS[control.kind], "kqv_out" if control.kind == "heads" else "l_out"
    return [
        Hook(layer, node, _scoped(_of_states(transform(direction, control.strength)), scope))
        for layer, direction in enumerate(directions, start=1)
        if direction.any()
    ]


def own_hooks(control: Control, scope: Scoped) -> list[Hook]:
    """Return the hooks of a function of one's own, at each of its layers, on the tokens of a scope."""
    if control.change is None or control.layers is None:
        return []
    layers = range(control.layers[0], control.layers[1] + 1)
    return [Hook(layer, control.node, _scoped(_checked(control, layer, control.change), scope)) for layer in layers]


def _checked(control: Control, layer: int, function: Change) -> Change:
    """A function whose result is checked; an `EngineError` names it."""

    def change(states: States, rows: Rows) -> States:
        # A copy: it may change the states in place.
        changed = function(states.copy(), rows)
        is_array = isinstance(changed, np.ndarray)
        found = f"{changed.dtype} of the shape {changed.shape}" if is_array else f"{type(changed).__name__}"
        if is_array and (changed.dtype, changed.shape) == (states.dtype, states.shape):
            if np.isfinite(changed).all():
                return changed
            found = "a value that is not a finite number"
        msg = (
            f"hook function {control.name!r} returned {found} for {control.node}-{layer}; expected finite numbers, "
            f"float32 of the shape {states.shape}: a row for each row that it gets"
        )
        raise EngineError(msg)

    return change


def _of_states(transform: Transform) -> Change:
    return lambda states, _rows: transform(states)


def _scoped(function: Change, scope: Scoped) -> Change:
    """A change of the rows in a scope; without one of these, the states are the same object."""

    def change(states: States, rows: Rows) -> States:
        chosen = scope(rows)
        if not chosen.any():
            return states
        changed = states.copy()
        changed[chosen] = function(states[chosen], rows[chosen])
        return changed

    return change


def _unit(direction: NDArray[np.float32]) -> NDArray[np.float32]:
    wide = direction.astype(np.float64)
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def _inner(left: States, right: States) -> States:
    products: States = np.einsum("rw,rw->r", left, right)
    return products


def _along(states: States, direction: States) -> States:
    """The length of each state along a direction; unlike a product of matrices, it is the same alone and in a batch."""
    lengths: States = np.einsum("rw,w->r", states, direction)
    return lengths
