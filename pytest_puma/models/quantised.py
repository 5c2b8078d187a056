"""Quantised weights of a model: the types that can be made of its file, and where the user's cache keeps them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_puma.core import Control, Model, ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.models.gguf import read_header
from pytest_puma.models.names import name_from_file
from pytest_puma.models.search import part_paths, user_cache
from pytest_puma.models.weights import known_digest, stamps_of

#: The types that llama.cpp makes of weights alone, from large to small.
TYPES = (
    *("F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q5_1", "Q5_0", "Q4_K_M", "Q4_K_S", "Q4_1", "Q4_0", "IQ4_NL"),
    *("IQ4_XS", "Q3_K_L", "Q3_K_M", "Q3_K_S", "IQ3_M", "IQ3_S", "Q2_K"),
)
#: Types that llama.cpp makes with an importance matrix only, but for models whose rows no block of 256 fits.
NEED_MATRIX = ("IQ3_XS", "IQ3_XXS", "Q2_K_S", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ1_M", "IQ1_S")
#: Of tensors that are exact enough to make other types of.
_SOURCES = {"F32", "F16", "BF16", "Q8_0"}
_TOKENS = "tokenizer.ggml.tokens"


def own_weights(model: Model) -> Control | None:
    """Return the control that stands for a model's weights; None if they are those of its file."""
    weights = None if model.variant is None else model.variant.weights
    return None if weights is None else weights.controls[0]


def made_path(source: Path, type_name: str, digest: str) -> Path:
    """Return where the user's cache keeps weights of a type that are made of a file with this digest."""
    return user_cache() / "quantised" / f"{name_from_file(source.name)}-{type_name}-{digest[:16]}.gguf"


def weights_path(model: Model) -> Path | None:
    """Return the file that a model answers from; None if it is not made yet."""
    weights = own_weights(model)
    if weights is None or weights.sha256:
        return model.path if weights is None else weights.path
    digest = known_digest(model.path)
    path = made_path(model.path, weights.name, digest)
    return path if digest and path.is_file() else None


def at_hand(model: Model) -> Model:
    """Return a model over the file that it answers from; before that is made, the plain model."""
    path = weights_path(model)
    if path is None:
        return model.plain
    return model if path == model.path else replace(model, path=path, stamps=stamps_of(path))


def check_weights(control: Control, model: Model) -> None:
    """Check that weights can be made of a model's file, or that a file has them; a `ModelError` gives the reason."""
    if control.sha256:
        check_same(control.path, model)
    else:
        check_source(model)


def check_source(model: Model) -> None:
    """Check that other types can be made of a model's file; a `ModelError` names its own type if not."""
    tensors = [tensor for part in part_paths(model.path) for tensor in read_header(part).tensors]
    coarse = [tensor for tensor in tensors if tensor.type_name not in _SOURCES]
    if coarse:
        largest = max(coarse, key=lambda tensor: tensor.weights).type_name
        msg = f"{model.name} is {largest}: give an F16 or Q8_0 file, as quantising what is quantised loses more"
        raise ModelError(msg)


def check_same(path: Path, model: Model) -> None:
    """Check that a file has another quantisation of a model; a `ModelError` names what differs."""
    found, expected = (BaseModel.of(_at(model, file)) for file in (path, model.path))
    differences = [
        *_different("architecture", found.architecture, expected.architecture),
        *_different("width", found.width, expected.width),
        *_different("layers", found.layers, expected.layers),
        *(["another vocabulary"] if _vocabulary(path) != _vocabulary(model.path) else []),
    ]
    if differences:
        msg = f"{path.name} is no other quantisation of {model.name}: {', '.join(differences)}; give it as a model"
        raise ModelError(msg)


def _at(model: Model, path: Path) -> Model:
    return Model(name=model.name, path=path)


def _different(what: str, found: object, expected: object) -> list[str]:
    return [] if found == expected else [f"{what} {found} instead of {expected}"]


def _vocabulary(path: Path) -> bytes:
    """The texts of all tokens, as they stand in the file."""
    place = read_header(path).metadata.get(_TOKENS)
    if not isinstance(place, slice):
        return b""
    with path.open("rb") as file:
        file.seek(place.start)
        return file.read(place.stop - place.start)
