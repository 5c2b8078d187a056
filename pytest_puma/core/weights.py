"""The weights that a model answers from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A file of weights: its bytes, its mean number of bits per weight, and the share of the weights in each type.

    The types are those that the tensors have: `Q4_K_M` names a recipe, whose file may hold Q5_0 and Q8_0.
    """

    size: int
    bits: float
    types: Mapping[str, float]
