"""The part of a model's header that decides whether a LoRA adapter or a control vector fits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_puma.core import Model
from pytest_puma.models.gguf import read_header
from pytest_puma.models.search import part_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseModel:
    """`width`: numbers in the output of a layer; `shapes`: those of all tensors, where inputs come first.

    `heads`: numbers in the outputs of all attention heads of a layer, 0 where the header does not specify them.
    """

    name: str
    architecture: str
    layers: int
    width: int
    shapes: Mapping[str, tuple[int, ...]]
    heads: int = 0

    @classmethod
    def of(cls, model: Model) -> BaseModel:
        """Read the headers of a model's files; a `ModelError` if one cannot be read."""
        headers = [read_header(part) for part in part_paths(model.path)]
        architecture = headers[0].text("general.architecture")
        width = headers[0].count(f"{architecture}.embedding_length") or 0
        heads = headers[0].count(f"{architecture}.attention.head_count") or 0
        head_width = headers[0].count(f"{architecture}.attention.value_length") or width // max(heads, 1)
        return cls(
            name=model.name,
            architecture=architecture,
            layers=headers[0].count(f"{architecture}.block_count") or 0,
            width=width,
            heads=heads * head_width,
            shapes={tensor.name: tensor.shape for header in headers for tensor in header.tensors},
        )

    @property
    def steered(self) -> str:
        """The layers that a control vector can steer, in words: llama.cpp never steers layer 0."""
        return f"layers 1 to {self.layers - 1}"
