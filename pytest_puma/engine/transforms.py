"""The changes of hidden states that controls of a model ask for. Pure: numbers in, numbers out.

`h` is a state, `u` the direction of its layer, of length 1. Each row is computed for itself and in the same way in any
batch, so that a state does not depend on those beside it.

ablate   h - strength * (h . u) u, without the part along the direction. Source: A. Arditi et al., "Refusal in language
         models is mediated by a single direction", NeurIPS 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Control
from pytest_puma.core.variant import ControlKind
from pytest_puma.engine.hook import Change, Hook, States


def ablation(direction: States, strength: float) -> Change:
    """Return a change that takes this part of the component along a direction of length 1 out of states."""
    factor = np.float32(strength)
    return lambda states: states - factor * _along(states, direction)[:, None] * direction


_CHANGES: Mapping[ControlKind, Callable[[States, float], Change]] = {"ablate": ablation}


def hooks_of(control: Control, directions: NDArray[np.float32]) -> list[Hook]:
    """Return the hooks of a control with a direction for each layer from 1 on; zeros leave a layer alone."""
    change = _CHANGES[control.kind]
    return [
        Hook(layer, "l_out", change(_unit(direction), control.strength))
        for layer, direction in enumerate(directions, start=1)
        if direction.any()
    ]


def _unit(direction: NDArray[np.float32]) -> NDArray[np.float32]:
    wide = direction.astype(np.float64)
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def _along(states: States, direction: States) -> States:
    """The length of each state along a direction; unlike a product of matrices, it is the same alone and in a batch."""
    lengths: States = np.einsum("rw,w->r", states, direction)
    return lengths
