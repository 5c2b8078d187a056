"""LoRA adapters: for a matrix W of a model, two matrices A and B; it becomes W + strength * alpha / rank * B A.

llama.cpp's convert_lora_to_gguf.py makes the file: `general.type` is `adapter`, `adapter.type` is `lora`, and the
tensors for `blk.0.attn_q.weight` are `blk.0.attn_q.weight.lora_a` and `.lora_b`. `weights.weights_digest` digests it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from pytest_puma.core import ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.models.gguf import Header, read_header
from pytest_puma.models.header import BLOCKS, Tensor
from pytest_puma.phrases import named

#: The shapes of A and B, as in the file: (inputs, rank) and (rank, outputs); for experts, their number comes last.
Pair: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]

_PROGRAM = "llama.cpp's convert_lora_to_gguf.py"
_INVOCATION = "adapter.alora.invocation_tokens"
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"
_SIDES = (".lora_a", ".lora_b")
_IGNORED = "_norm.weight"  # llama.cpp leaves such vectors out
#: The types that the program writes, each with the part of a block that may be no finite number.
_NUMBERS: Mapping[int, Any] = {0: "<f4", 1: "<f2", 30: "<u2", 8: [("scale", "<f2"), ("weights", "i1", 32)]}
_BF16, _Q8_0 = 30, 8
_MATRIX = 2  # dimensions
_OTHER = "it was made for another model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """`pairs`: shapes by the name of the model's tensor; `alpha`: 0 if the file has none, which counts as the rank."""

    path: Path
    architecture: str
    alpha: float
    pairs: Mapping[str, Pair]

    @property
    def rank(self) -> int:
        """The largest rank of its pairs."""
        return max(second[0] for _, second in self.pairs.values())

    def check_fits(self, model: BaseModel) -> None:
        """Check that llama.cpp can apply it to a model; a `ModelError` gives the difference."""
        name = self.path.name
        if self.architecture != model.architecture:
            msg = f"{name} is a LoRA for {self.architecture}; {model.name} is {model.architecture}"
            raise ModelError(msg)
        if missing := [tensor for tensor in self.pairs if tensor not in model.shapes]:
            msg = f"{name} changes {named(missing, 3)}, which {model.name} does not have: {_OTHER}"
            raise ModelError(msg)
        if _EMBEDDING in self.pairs and _OUTPUT not in model.shapes:
            # llama.cpp would abort the process at the first decode.
            msg = (
                f"{name} changes {_EMBEDDING}, which is the output matrix of {model.name} too: llama.cpp cannot apply "
                "it; train an adapter without the embedding"
            )
            raise ModelError(msg)
        for tensor, pair in self.pairs.items():
            changed, expected = _changed(tensor, pair), model.shapes[tensor]
            if changed != expected:
                sizes = [" x ".join(map(str, shape)) for shape in (changed, expected)]
                msg = f"{name} changes {tensor} of {sizes[0]} numbers, {model.name} has {sizes[1]}: {_OTHER}"
                raise ModelError(msg)


def read_adapter(path: Path) -> Adapter:
    """Read an adapter's header and check its numbers; a `ModelError` if it is no LoRA that can be used here."""
    header = read_header(path, converter=_PROGRAM)
    _check_kind(path, header)
    sides: dict[str, dict[str, tuple[int, ...]]] = {}
    for tensor in header.tensors:
        name, side = tensor.name[: -len(_SIDES[0])], tensor.name[-len(_SIDES[0]) :]
        if side in _SIDES:
            sides.setdefault(name, {})[side] = tensor.shape
        elif not tensor.name.endswith(_IGNORED):
            _refuse(path, f"has a tensor {tensor.name!r}; expected names that end with {' or '.join(_SIDES)}")
        _check_numbers(path, header, tensor)
    pairs = {name: _pair(path, name, shapes) for name, shapes in sides.items()}
    alpha = header.metadata.get("adapter.lora.alpha", 0.0)
    if not pairs:
        _refuse(path, "has no tensors of a LoRA")
    if not isinstance(alpha, float) or not math.isfinite(alpha):
        _refuse(path, f"has {alpha!r} as adapter.lora.alpha; expected a finite number")
    return Adapter(path=path, architecture=header.text("general.architecture"), alpha=alpha, pairs=pairs)


def _check_kind(path: Path, header: Header) -> None:
    kind, adapter = header.text("general.type") or "model", header.text("adapter.type")
    if kind != "adapter" or adapter != "lora":
        found = f"an adapter of the type {adapter!r}" if kind == "adapter" else f"a file of the kind {kind!r}"
        found = "a control vector" if header.text("general.architecture") == "controlvector" else found
        msg = f"{path} is {found}, and no LoRA adapter; expected a file of {_PROGRAM}"
        raise ModelError(msg)
    if _INVOCATION in header.metadata:
        msg = f"{path} is an aLoRA: it acts from its invocation tokens on, which a shared batch cannot do"
        raise ModelError(msg)


def _check_numbers(path: Path, header: Header, tensor: Tensor) -> None:
    if tensor.kind not in _NUMBERS:
        _refuse(path, f"has {tensor.name} in the type {tensor.kind}; expected F32, F16, BF16 or Q8_0")
    count = math.prod(tensor.shape) // BLOCKS[tensor.kind][0]
    numbers = np.fromfile(path, dtype=_NUMBERS[tensor.kind], count=count, offset=header.data + tensor.offset)
    if tensor.kind == _Q8_0:
        numbers = numbers["scale"]
    if tensor.kind == _BF16:
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    if not np.isfinite(numbers).all():
        _refuse(path, f"has a value in {tensor.name} that is not a finite number")


def _pair(path: Path, name: str, shapes: Mapping[str, tuple[int, ...]]) -> Pair:
    """The pair of a tensor; a `ModelError` if half of it is missing, or if the halves do not fit each other."""
    first, second = (shapes.get(side, ()) for side in _SIDES)
    dimensions, inner = len(first), 0 if name == _EMBEDDING else 1
    if (
        dimensions < _MATRIX
        or 0 in first
        or dimensions != len(second)
        or first[2:] != second[2:]
        or first[inner] != second[0]
    ):
        _refuse(path, f"has matrices of the shapes {first} and {second} for {name}; expected two of one rank")
    return first, second


def _changed(tensor: str, pair: Pair) -> tuple[int, ...]:
    """The shape of the tensor that a pair changes."""
    first, second = pair
    return (second[1], first[1]) if tensor == _EMBEDDING else (first[0], *second[1:])


def _refuse(path: Path, problem: str) -> NoReturn:
    msg = f"{path} {problem}: it is damaged, or of another kind; download it again, or make it with {_PROGRAM}"
    raise ModelError(msg)
