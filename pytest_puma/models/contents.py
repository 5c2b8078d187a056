"""The size of a model's weights, and what they are, by the headers of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_puma.core import Model, ModelError
from pytest_puma.core.weights import Weights
from pytest_puma.models.gguf import read_header
from pytest_puma.models.quantised import weights_path
from pytest_puma.models.search import part_paths


def contents(path: Path) -> Weights:
    """Return what a file, with all its parts, holds; a `ModelError` if it cannot be read."""
    headers = [read_header(part) for part in part_paths(path)]
    tensors = [tensor for header in headers for tensor in header.tensors]
    by_type: Counter[str] = Counter()
    for tensor in tensors:
        by_type[tensor.type_name] += tensor.weights
    return Weights(
        size=sum(header.size for header in headers),
        bits=8 * sum(tensor.size for tensor in tensors) / by_type.total(),
        types={name: weights / by_type.total() for name, weights in by_type.most_common()},
    )


def weights_of(models: Iterable[Model]) -> dict[str, Weights]:
    """Return the weights of each model by its name; without those whose file is not here any more."""
    weights: dict[str, Weights] = {}
    for model in models:
        with suppress(ModelError):
            if model.computes and (path := weights_path(model)) is not None:
                weights[model.name] = contents(path)
    return weights
