"""The memory that adapters and control vectors take beside the weights: llama.cpp keeps those that it has loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_puma.core import Model
from pytest_puma.models.pairs import is_pairs

#: A larger share of the weights is worth a sentence.
_LARGE = 0.1


def control_bytes(model: Model) -> dict[str, int]:
    """Return the size of each file that a variant puts on the weights; a vector of pairs of texts is small."""
    controls = () if model.variant is None else model.variant.controls
    files = (control.path for control in controls if control.kind in {"lora", "steer"} and not is_pairs(control.path))
    return {path.name: path.stat().st_size for path in files}


def large_controls(controls: Mapping[str, int], weights: int) -> Iterator[str]:
    """Yield a sentence for each file that is larger than a tenth of the weights."""
    for name, size in controls.items():
        if size > _LARGE * weights:
            yield (
                f"{name} has {size / 2**20:,.1f} MB, {size / weights:.0%} of the weights, and stays in memory beside "
                "them; an adapter of a lower rank is smaller and faster"
            )
