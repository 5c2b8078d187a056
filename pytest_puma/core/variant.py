"""Variants of a model: what is put on its weights without changing them.

`q+polite-0.5-L10+support-0.2` is the model `q` with the control vector `polite.gguf` on layer 10 and the LoRA adapter
`support.gguf`. `q+Q4_K_M` has other weights, those of `q` in another type; `q+kv-q8_0` another option of the engine. A
model without controls is *plain*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pytest_puma.errors import SettingsError

#: A LoRA adapter; a control vector, which is added to states, whose direction is taken out of them, or to which they
#: are rotated; a vector that is added to the outputs of attention heads; a condition on prompts, for vectors to act on
#: their replies; a function of one's own; a quantisation; an option of the engine: the type of its KV cache, or whether
#: it uses flash attention.
ControlKind: TypeAlias = Literal["lora", "steer", "ablate", "rotate", "heads", "when", "hook", "quant", "kv", "flash"]
#: Kinds that are chosen from values and have no strength.
CHOSEN: tuple[ControlKind, ...] = ("quant", "kv", "flash")
#: Kinds that change states while they are computed, by a formula that llama.cpp does not have.
HOOKS: tuple[ControlKind, ...] = ("ablate", "rotate", "heads", "when", "hook")
#: Kinds that act under a condition, if there is one.
ACTING: tuple[ControlKind, ...] = ("steer", "ablate", "rotate", "heads", "hook")
#: The tokens whose states a control changes: of the prompt, of the reply, or the last one of the prompt.
Scope: TypeAlias = Literal["all", "prompt", "reply", "last"]
#: First and last, counted from 0, as in llama.cpp's `l_out-N`.
Layers: TypeAlias = tuple[int, int]
#: Separates the name of a model and those of its controls.
PLUS = "+"
#: The value that stands for the plain model in a list, with an example, by the kind of its controls.
_PLAIN = {
    "quant": ("none", "quant=none/Q4_K_M"),
    "kv": ("f16", "kv=f16/q8_0"),
    "flash": ("auto", "flash=auto/on"),
    "steer": ("0", "steer=polite.gguf:0/4/8"),
}
_PART = re.compile(r"(.+?)-(-?[\d.]+(?:e-?\d+)?)(?:-L(\d+(?:-\d+)?))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A file that is put on a model, or in place of its own; or a value of an option.

    `name`: the stem of the file, else the value, such as a type of quantisation that is made of the model's own file.
    `sha256`: the digest of the file's bytes, which identifies it; of a function, of its name, node and version; empty
    for values. `recipe`: the number of the way to make a vector of the pairs in the file; 0 if they are no pairs.
    `strength`: its factor, never 0; of a rotation, degrees; of a condition, its threshold, which may be 0. `layers`:
    those of a control vector, None for all that the file has. `scope`: the tokens that a vector changes. `change`: a
    function of one's own (`engine.hook.Change`), and the `node` whose states it changes.
    """

    kind: ControlKind
    name: str
    path: Path = field(default=Path(), compare=False)
    sha256: str = ""
    recipe: int = 0
    strength: float = 1.0
    layers: Layers | None = None
    scope: Scope = "all"
    node: str = ""
    change: Callable[..., Any] | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """Its name, with its kind and scope where they are not those of an adapter or an added vector."""
        kind = f"-{self.kind}" if self.kind in {*HOOKS, "kv", "flash"} else ""
        return f"{self.name}{kind}{'' if self.scope == 'all' else f'-{self.scope}'}"

    @property
    def hooked(self) -> bool:
        """Whether it changes states while they are computed: llama.cpp has adapters and added vectors alone."""
        return self.kind in HOOKS or self.scope != "all"

    @property
    def part(self) -> str:
        """Its part of the name of a variant. It does not depend on the other points of a sweep."""
        if self.kind in CHOSEN:
            return self.name if self.kind == "quant" else f"{self.kind}-{self.name}"
        # All digits, so that no two strengths have one name; without the + of 1e+20, which separates controls.
        strength = repr(self.strength).removesuffix(".0").replace(PLUS, "")
        return f"{self.label}-{strength}{'' if self.layers is None else f'-L{shown_layers(self.layers)}'}"

    @property
    def signature(self) -> str:
        """Everything about it that could change an answer."""
        if self.kind in CHOSEN:
            return f"{self.kind} {self.name}"
        layers = [] if self.layers is None else ["{}-{}".format(*self.layers)]
        scope = [] if self.scope == "all" else [self.scope]
        recipe = [f"recipe {self.recipe}"] if self.recipe else []
        return " ".join([self.kind, self.sha256, *recipe, f"{self.strength!r}", *layers, *scope])


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The controls that are put on a model together, in their order; `own_name`: in place of those of the controls."""

    controls: tuple[Control, ...]
    own_name: str = ""

    @classmethod
    def of(cls, *controls: Control, name: str = "") -> Variant:
        """Return a variant of one's own. A control of strength 0 is left out; a `SettingsError` if none is left."""
        kinds = {control.kind for control in controls}
        if "when" in kinds and not kinds & {*ACTING}:
            msg = f"variant {name!r} has a condition without a vector that acts under it; expected one, as steer(...)"
            raise SettingsError(msg)
        left = with_effect([control for control in controls if control.strength or control.kind == "when"])
        if not left:
            msg = f"variant {name!r} has no control with a strength; expected one, as the plain model is no variant"
            raise SettingsError(msg)
        if name == "plain" or not re.fullmatch(r"[\w.-]*", name, re.ASCII):
            msg = f"a variant is named {name!r}; expected letters, digits and any of . _ - only, and not 'plain'"
            raise SettingsError(msg)
        return cls(controls=left, own_name=name)

    @property
    def name(self) -> str:
        """Behind the name of the model: `polite-0.5-L10+support-0.2`."""
        return self.own_name or PLUS.join(control.part for control in self.controls)

    @property
    def signature(self) -> str:
        """Everything about the controls that could change an answer. Other weights have a digest of their own."""
        return "; ".join(control.signature for control in self.controls if control.kind != "quant")

    @property
    def weights(self) -> Variant | None:
        """The part of it that is other weights, None if they are those of the plain model."""
        quants = tuple(control for control in self.controls if control.kind == "quant")
        return Variant(controls=quants) if quants else None

    def value(self, kind: ControlKind) -> str | None:
        """Return the name of the control of a kind, such as the value of an option; None if there is none."""
        return next((control.name for control in self.controls if control.kind == kind), None)


def with_effect(controls: Sequence[Control]) -> tuple[Control, ...]:
    """Return the controls without conditions if there is nothing to act under them."""
    acting = any(control.kind in ACTING for control in controls)
    return tuple(control for control in controls if acting or control.kind != "when")


def varied(signature: Mapping[str, str], variant: Variant | None) -> dict[str, str]:
    """Return the signature of a model with this variant in place of any other. A plain model has no entry."""
    plain = {name: value for name, value in signature.items() if name != "variant"}
    return plain if variant is None or not variant.signature else {**plain, "variant": variant.signature}


def shown_layers(layers: Layers) -> str:
    """Return layers as in a model argument: `10`, or `8-20`."""
    first, last = layers
    return f"{first}" if first == last else f"{first}-{last}"


def plain_name(name: str) -> str:
    """Return the name of a model without that of its variant."""
    return name.partition(PLUS)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A control as its `part` of a name shows it; `strength` is NaN for one without, `layers` empty for all layers."""

    part: str
    strength: float = math.nan
    layers: str = ""

    @property
    def is_type(self) -> bool:
        """Whether it is a quantisation, which has its name alone."""
        return math.isnan(self.strength) and not self.part.startswith(("kv-", "flash-"))

    @property
    def plain(self) -> tuple[str, str]:
        """The value that stands for the plain model in its list, and an example of such a list."""
        option = self.part.partition("-")[0] if math.isnan(self.strength) else "steer"
        return _PLAIN.get(option, _PLAIN["quant"])


def settings_of(variant: str) -> dict[str, Setting]:
    """Return the settings of the controls in the name of a variant, by their names; none for a plain model."""
    settings = {}
    for part in variant.split(PLUS) if variant else ():
        found = _PART.fullmatch(part)
        name, strength, layers = found.groups() if found else (part, "nan", None)
        settings[name] = Setting(part=part, strength=float(strength), layers=layers or "")
    return settings


def adding_plain(variant: str) -> str:
    """Return how to run the plain model beside a variant of this name: `add 0 to the list, as in ...`."""
    plain = dict(setting.plain for setting in settings_of(variant).values())
    lists = "lists" if len(plain) > 1 else "list"
    return f"add {' and '.join(plain)} to the {lists}, as in {','.join(plain.values())}"
