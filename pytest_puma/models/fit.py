"""Whether the controls of variants fit their model, by the headers of the files: before anything is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import MethodType

from pytest_puma.core import Control, Model, ModelError
from pytest_puma.models.adapter import read_adapter
from pytest_puma.models.base import BaseModel
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.pairs import check_layers, is_pairs
from pytest_puma.models.quantised import check_weights


def check_fit(variants: Sequence[Model]) -> None:
    """Check the controls of all variants of one model, each file once; a `ModelError` names one that does not fit."""
    controls = dict.fromkeys(
        control
        for model in variants
        if model.variant is not None
        for control in model.variant.controls
        if control.kind not in {"kv", "flash"}
    )
    if not controls:
        return
    plain = variants[0].plain
    base, load, read = BaseModel.of(plain), cache(ControlVector.load), cache(read_adapter)
    for control in controls:
        if control.kind == "quant":
            check_weights(control, plain)
        elif control.kind == "hook":
            _check_function(control, base)
        elif control.kind == "lora":
            read(control.path).check_fits(base)
        elif control.kind == "heads":
            _check_heads(control, base)
        elif is_pairs(control.path):
            check_layers(control.path, base, control.layers)
        else:
            load(control.path).check_fits(base, name=control.path.name, chosen=control.layers)
        if control.kind == "when":
            _check_condition(control, base)


def check_functions(variants: Sequence[Model]) -> None:
    """Check that no two functions have one name, node and version; a `ModelError` names the variants of two.

    Kept answers belong to these three, so that one function would take those of the other.
    """
    first: dict[str, tuple[str, object]] = {}
    for model in variants:
        for control in () if model.variant is None else model.variant.controls:
            if control.change is None:
                continue
            name, function = first.setdefault(control.sha256, (model.name, control.change))
            # A method is another object each time that it is looked up.
            if function is not control.change and not (isinstance(function, MethodType) and function == control.change):
                msg = (
                    f"{' and '.join(dict.fromkeys((name, model.name)))}: found two functions {control.name!r} with one "
                    "version, which would share kept answers; expected a version for each, such as "
                    'version=f"1-{k}", or one function for both'
                )
                raise ModelError(msg)


def _check_function(control: Control, base: BaseModel) -> None:
    first, last = control.layers or (0, 0)
    if not 1 <= first <= last < base.layers:
        msg = f"{control.part}: {base.name} has {base.steered}"
        raise ModelError(msg)


def _check_heads(control: Control, base: BaseModel) -> None:
    if is_pairs(control.path):
        msg = f"heads={control.path.name}: vectors of pairs are for the outputs of layers; expected a vector of heads"
        raise ModelError(msg)
    if not base.heads:
        msg = f"heads=: the header of {base.name} has no number of heads for all layers; expected such a model"
        raise ModelError(msg)
    heads = replace(base, width=base.heads, name=f"the attention of {base.name}")
    ControlVector.load(control.path).check_fits(heads, name=control.path.name, chosen=control.layers)


def _check_condition(control: Control, base: BaseModel) -> None:
    first, last = control.layers or (0, 0)
    if first != last or not 1 <= last < base.layers - 1 or abs(control.strength) > 1:
        msg = (
            f"{control.part}: a condition is a cosine from -1 to 1 at one of the layers 1 to {base.layers - 2} of "
            f"{base.name}, as in when=topic.gguf:0.2@1: the last layer computes only tokens that need logits"
        )
        raise ModelError(msg)
