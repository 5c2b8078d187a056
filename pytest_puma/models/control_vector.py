"""Control vectors: directions that are added to the outputs of a model's layers, for every token.

    polite = ControlVector.load("polite.gguf") - 0.5 * ControlVector.load("verbose.gguf")
    polite.save("mine.gguf")

A file is GGUF in the layout of repeng, which llama.cpp reads too: `general.architecture` is `controlvector`, and the
tensor `direction.N` has the numbers for the output of layer N, counted from 0. llama.cpp never steers layer 0.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.models.gguf import MAGIC, VERSIONS, Header, read_header
from pytest_puma.models.header import MAX_LAYERS
from pytest_puma.platform.files import write_whole

ARCHITECTURE = "controlvector"
_HINT, _COUNT = f"{ARCHITECTURE}.model_hint", f"{ARCHITECTURE}.layer_count"
_TENSOR = "direction."
_UINT32, _TEXT, _F32 = 4, 8, 0
_ALIGNMENT = 32
_MAX_DIGITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class ControlVector:
    """The direction of each layer, float32 numbers of one width; `hint` names the kind of model in words.

    Vectors can be added, subtracted, negated, and multiplied by a number; a layer that one of two lacks counts as
    zeros. A `ModelError` if the directions are no such numbers.
    """

    directions: Mapping[int, NDArray[np.float32]]
    hint: str = ""
    __array_ufunc__ = None  # numpy's own numbers leave the multiplication to this class

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            directions = {
                layer: np.array(numbers, dtype=np.float32) for layer, numbers in sorted(self.directions.items())
            }
        widths = {numbers.shape for numbers in directions.values()}
        if len(widths) != 1 or len(min(widths)) != 1 or not min(widths)[0]:
            msg = f"a control vector has directions of the shapes {sorted(widths)}; expected one width for all layers"
            raise ModelError(msg)
        for layer, numbers in directions.items():
            if not 1 <= layer <= MAX_LAYERS:
                msg = f"{_TENSOR}{layer} cannot be applied: llama.cpp steers the layers from 1 on"
                raise ModelError(msg)
            if not np.isfinite(numbers).all():
                msg = f"{_TENSOR}{layer} has a value that is not a finite number: make the control vector again"
                raise ModelError(msg)
            numbers.flags.writeable = False
        object.__setattr__(self, "directions", directions)

    @classmethod
    def load(cls, path: str | Path) -> ControlVector:
        """Read a file of repeng, of llama.cpp's cvector-generator or of `save`; a `ModelError` if it is none."""
        path = Path(path)
        header = read_header(path, converter="repeng's export_gguf")
        _check_kind(path, header)
        directions: dict[int, NDArray[np.float32]] = {}
        for name, shape, kind, offset in header.tensors:
            layer = _layer(name)
            if layer is None or layer in directions or kind != _F32 or len(shape) != 1:
                msg = (
                    f"{path} has a tensor {name!r}; expected one {_TENSOR}N for a layer, of type F32 and one dimension"
                )
                raise ModelError(msg)
            directions[layer] = np.fromfile(path, dtype="<f4", count=shape[0], offset=header.data + offset)
        try:
            return cls(directions, header.text(_HINT))
        except ModelError as error:
            msg = f"{path}: {error}"
            raise ModelError(msg) from error

    def save(self, path: str | Path) -> None:
        """Write the file, in place of an old one."""
        pairs = (
            _text("general.architecture") + struct.pack("<I", _TEXT) + _text(ARCHITECTURE),
            _text(_HINT) + struct.pack("<I", _TEXT) + _text(self.hint),
            _text(_COUNT) + struct.pack("<II", _UINT32, len(self.directions)),
        )
        step = -(-4 * self.width // _ALIGNMENT) * _ALIGNMENT
        tensors = (
            _text(f"{_TENSOR}{layer}") + struct.pack("<IQIQ", 1, self.width, _F32, number * step)
            for number, layer in enumerate(self.directions)
        )
        start = MAGIC + struct.pack("<IQQ", max(VERSIONS), len(self.directions), len(pairs))
        blocks = [start + b"".join(pairs) + b"".join(tensors), *map(_bytes, self.directions.values())]
        write_whole(Path(path), b"".join(block + bytes(-len(block) % _ALIGNMENT) for block in blocks))

    @property
    def width(self) -> int:
        """The numbers of a direction."""
        return len(next(iter(self.directions.values())))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers with a direction, in order."""
        return tuple(self.directions)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the layers and their numbers, in hexadecimal."""
        digest = hashlib.sha256()
        for layer, numbers in self.directions.items():
            digest.update(struct.pack("<Q", layer) + _bytes(numbers))
        return digest.hexdigest()

    def rows(self, layers: int, chosen: tuple[int, int] | None = None) -> NDArray[np.float32]:
        """Return the directions for layer 1 and the following ones of a model with this number of layers.

        Zeros for a layer without one, or outside the `chosen` ones: the first and the last.
        """
        rows = np.zeros((layers - 1, self.width), dtype=np.float32)
        first, last = chosen or (1, layers - 1)
        for layer, numbers in self.directions.items():
            if first <= layer <= last:
                rows[layer - 1] = numbers
        return rows

    def check_fits(self, model: BaseModel, *, name: str, chosen: tuple[int, int] | None = None) -> None:
        """Check that a model can be steered by this vector in the `chosen` layers; a `ModelError` names the vector."""
        other, above = "it was made for another model", max(self.layers)
        if self.width != model.width:
            msg = f"{name} has directions of {self.width} numbers, {model.name} has {model.width}: {other}"
            raise ModelError(msg)
        if above >= model.layers:
            msg = f"{name} has directions up to layer {above}, {model.name} has {model.steered}: {other}"
            raise ModelError(msg)
        if chosen is None:
            return
        first, last = chosen
        at = f"@{first}" if first == last else f"@{first}-{last}"
        if not 1 <= first <= last < model.layers:
            msg = f"{at}: {model.name} has {model.steered}"
            raise ModelError(msg)
        if not any(first <= layer <= last for layer in self.layers):
            msg = f"{at}: {name} has no direction there; it has some for the layers {min(self.layers)} to {above}"
            raise ModelError(msg)

    def __add__(self, other: ControlVector) -> ControlVector:
        if not isinstance(other, ControlVector):
            return NotImplemented
        if self.width != other.width:
            msg = (
                f"a control vector of width {self.width} and one of {other.width} cannot be added: their models differ"
            )
            raise ModelError(msg)
        zeros = np.zeros(self.width, dtype=np.float32)
        with np.errstate(over="ignore"):
            return ControlVector(
                {
                    layer: self.directions.get(layer, zeros) + other.directions.get(layer, zeros)
                    for layer in {*self.layers, *other.layers}
                },
                self.hint or other.hint,
            )

    def __sub__(self, other: ControlVector) -> ControlVector:
        return self + -other

    def __neg__(self) -> ControlVector:
        return -1 * self

    def __mul__(self, factor: float) -> ControlVector:
        if not isinstance(factor, Real):
            return NotImplemented
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = {layer: numbers * np.float32(factor) for layer, numbers in self.directions.items()}
        return ControlVector(scaled, self.hint)

    __rmul__ = __mul__


def _check_kind(path: Path, header: Header) -> None:
    """Check that a header is that of a control vector; a `ModelError` names the kind that it has."""
    architecture = header.text("general.architecture")
    if architecture == ARCHITECTURE and header.tensors:
        return
    found = "a LoRA adapter" if header.text("general.type") == "adapter" else f"a file for {architecture or 'nothing'}"
    found = "without directions" if architecture == ARCHITECTURE else f"{found}, and no control vector"
    msg = f"{path} is {found}; expected a file of repeng, or of ControlVector.save"
    raise ModelError(msg)


def _layer(name: str) -> int | None:
    """The layer of a tensor by its name, None if it has none."""
    digits = name.removeprefix(_TENSOR)
    return int(digits) if digits != name and digits.isdecimal() and len(digits) <= _MAX_DIGITS else None


def _text(value: str) -> bytes:
    content = value.encode()
    return struct.pack("<Q", len(content)) + content


def _bytes(numbers: NDArray[np.float32]) -> bytes:
    return numbers.astype("<f4").tobytes()
