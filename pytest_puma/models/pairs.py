"""Pairs of texts, from which a control vector is made: how a model should write, and how it should not.

    {"prompt": "Say something.", "positive": "IL FAIT BEAU", "negative": "The weather is nice"}

One object per line of a JSON Lines file. The texts are replies of the model to the prompt, which may be left out.
In preferences, which are published to train models with, the sides are `chosen` and `rejected`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_puma.core import Model, ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.phrases import named
from pytest_puma.platform.json_text import parse_json

SUFFIX = ".jsonl"
#: Another number for another way to make vectors of pairs: they are other files then, and kept answers are others.
RECIPE: Final = 2
#: Refused with the form that is expected: published pairs are often a JSON list, or a table.
_OTHER_FORMS = (".json", ".csv", ".tsv", ".txt")
#: With fewer, a direction is that of single words.
FEWEST = 4
_PROMPT = "Say something."
#: Kinds of controls with a direction for each layer.
_VECTORS = ("steer", "ablate", "rotate", "heads")
#: What the sides are called in preferences to train with, as TRL reads them.
_PREFERRED = {"chosen": "positive", "rejected": "negative"}
#: Keys that a message names.
_SHOWN = 6
_FORM = '{"prompt": "Say something.", "positive": "IL FAIT BEAU", "negative": "The weather is nice"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two replies to a prompt, and the line of the file that has them."""

    prompt: str = _PROMPT
    positive: str
    negative: str
    line: int = field(default=0, compare=False)


def is_pairs(path: Path) -> bool:
    """Whether a file has pairs by its name; else it is a control vector."""
    return path.suffix.lower() in {SUFFIX, *_OTHER_FORMS}


def recipe_of(path: Path) -> int:
    """Return the number of the recipe by which a vector is made of this file; 0 if the file is a vector."""
    return RECIPE if is_pairs(path) else 0


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file; a `ModelError` names the line that has none."""
    if path.suffix.lower() in _OTHER_FORMS:
        msg = f"{path} is no JSON Lines file; expected {path.stem}{SUFFIX} with a pair per line, such as {_FORM}"
        raise ModelError(msg)
    try:
        # Not splitlines(): a text may have other characters that end lines, such as U+2028.
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}; expected lines such as {_FORM}"
        raise ModelError(msg) from error
    pairs = [_pair(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if len(pairs) < FEWEST:
        msg = f"{path} has {len(pairs)} pairs; expected at least {FEWEST}, better 16 or more"
        raise ModelError(msg)
    return pairs


def default_layers(layers: int) -> tuple[int, int]:
    """Return the layer that a vector made from pairs steers: at a third of the depth, where directions of style are."""
    layer = max(1, layers // 3)
    return layer, layer


def layers_unnamed(model: Model) -> Iterator[str]:
    """Yield a sentence for each vector of a model whose argument names no layers: those on which it is."""
    for control in () if model.variant is None else model.variant.controls:
        if control.kind in _VECTORS and control.layers is None:
            where = "all layers of its file"
            if is_pairs(control.path):
                where = f"layer {default_layers(BaseModel.of(model).layers)[0]}, a third of the depth"
            yield f"{control.name} is on {where}, as no layers were named: {control.kind}={control.path.name}@LAYERS"


def check_layers(path: Path, base: BaseModel, chosen: tuple[int, int] | None) -> None:
    """Check that a vector can be made of a file for a model in the `chosen` layers; a `ModelError` if not."""
    read_pairs(path)
    # The last block computes only the rows whose logits are wanted, so that it has no states to compare.
    last = base.layers - 2
    if last < 1:
        msg = f"{path.name}: {base.name} has {base.layers} layers; a vector can be made of pairs from 3 layers on"
        raise ModelError(msg)
    if chosen is not None and not 1 <= chosen[0] <= chosen[1] <= last:
        msg = f"{path.name}@{chosen[0]}-{chosen[1]}: vectors of pairs are for the layers 1 to {last} of {base.name}"
        raise ModelError(msg)


def _pair(path: Path, number: int, line: str) -> Pair:
    where = f"{path}, line {number}"
    try:
        value: Any = parse_json(line)
    except ValueError as error:
        msg = f"{where}: no JSON ({error}); expected {_FORM}"
        raise ModelError(msg) from error
    if not isinstance(value, dict):
        msg = f"{where}: no JSON object; expected {_FORM}"
        raise ModelError(msg)
    if value.keys() - {"prompt"} == _PREFERRED.keys():
        value = {_PREFERRED.get(key, key): text for key, text in value.items()}
    if value.keys() - {"prompt"} != {*_PREFERRED.values()}:
        found = f"found the keys {named(value, _SHOWN)}"
        msg = f"{where}: {found}; expected positive and negative (or chosen and rejected), and perhaps prompt: {_FORM}"
        raise ModelError(msg)
    if not all(isinstance(text, str) and text.strip() for text in value.values()):
        msg = f"{where}: a text is empty or no text; expected {_FORM}"
        raise ModelError(msg)
    if value["positive"] == value["negative"]:
        msg = f"{where}: both texts are equal, so that they have no difference; expected two replies"
        raise ModelError(msg)
    return Pair(**value, line=number)
