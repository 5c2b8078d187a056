"""Hooks: changes of the states that llama.cpp computes, row by row, before it computes the next node with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: The states of a node: one row for each token, float32.
States: TypeAlias = NDArray[np.float32]
#: Returns the states that take the place of those it gets; the same object leaves them as they are.
Change: TypeAlias = Callable[[States], States]


class Hook(NamedTuple):
    """A change of the states of a node of llama.cpp's graph, such as `l_out-10`: the output of layer 10."""

    layer: int
    node: str
    change: Change

    @property
    def name(self) -> bytes:
        """The name of the node in the graph."""
        return f"{self.node}-{self.layer}".encode()
