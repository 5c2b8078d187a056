"""Grammar of the controls in a model argument, and the variants of the model that they make.

    lora=FILE[:STRENGTH[/STRENGTH...]]                       a LoRA adapter
    steer=FILE[:STRENGTH[/STRENGTH...]][@LAYERS[/LAYERS...]] a control vector; layers are N or FIRST-LAST
    ablate=FILE[:STRENGTH...][@LAYERS...]                    its directions are taken out of the states; 1 is all of it
    rotate=FILE:DEGREES...[@LAYERS...]                       the states are rotated towards its directions
    heads=FILE[:STRENGTH...][@LAYERS...]                     a vector for the outputs of attention heads
    when=FILE:THRESHOLD[/THRESHOLD...]@LAYER                 vectors act on replies to prompts with this cosine and more
    scope=SCOPE[/SCOPE...]                                   tokens for the vector before it: all, prompt, reply, last
    quant=, kv=, flash=                                      other weights and engine options, see `models.choices`

    q.gguf,lora=support.gguf                        one variant: q+support-1
    q.gguf,steer=polite.gguf:0/4/8@10               a sweep with the plain model: q, q+polite-4-L10, q+polite-8-L10
    q.gguf,steer=polite.gguf:4@10,scope=all/reply   q+polite-4-L10, q+polite-reply-4-L10
    q.gguf,steer=a.gguf:0/1,lora=b.gguf:0/0.5       a grid of four

Values of one key vary together with those of the others, the last key fastest. A path may contain `,`, `:` and `@` if
its file exists.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, TypeAlias, TypeVar, get_args

from pytest_puma.core import Control, Model, ModelError, Variant
from pytest_puma.core.variant import ACTING, PLUS, ControlKind, Layers, Scope, with_effect
from pytest_puma.models.choices import CHOICES, ChoiceArgument, choice
from pytest_puma.models.search import expanded, is_file

_T = TypeVar("_T")
FileKind: TypeAlias = Literal["lora", "steer", "ablate", "rotate", "heads", "when"]
_FILES: tuple[FileKind, ...] = get_args(FileKind)
#: The keys of controls in a model argument.
KINDS = (*_FILES, *CHOICES)
#: The key for the tokens of the control before it.
SCOPE = "scope"
_SCOPES: tuple[Scope, ...] = get_args(Scope)
#: The maximum number of variants of one argument.
MAX_VARIANTS = 64
_VALUE = re.compile(r"(?P<place>.+?)(?::(?P<strengths>[-+.\deE/]+))?(?:@(?P<layers>[-\d/]+))?")
_REST = re.compile(r"(?::(?P<strengths>[^@]*))?(?:@(?P<layers>.*))?")
_LAYERS = re.compile(r"(?P<first>\d{1,4})(?:-(?P<last>\d{1,4}))?")
_FORM = "FILE[:STRENGTH[/STRENGTH...]], and [@LAYERS[/LAYERS...]] but for lora=, as in steer=polite.gguf:0/4/8@10"
_EXPECTED = {"strength": "numbers", "layers": "N or FIRST-LAST, from 1 on", "scope": f"some of {', '.join(_SCOPES)}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlArgument:
    """The parsed value of a control, not yet looked up, with the points of its sweep."""

    kind: FileKind
    place: str
    strengths: tuple[float, ...] = (1.0,)
    layers: tuple[Layers | None, ...] = (None,)
    scopes: tuple[Scope, ...] = ("all",)

    def points(self, control: Control) -> list[Control | None]:
        """Return the control at each point; None, once, where its strength is 0."""
        points = (
            replace(control, strength=strength, layers=layers, scope=scope) if strength or self.kind == "when" else None
            for strength in self.strengths
            for layers in self.layers
            for scope in self.scopes
        )
        return list(dict.fromkeys(points))


def split_controls(settings: Sequence[str]) -> tuple[tuple[ControlArgument | ChoiceArgument, ...], list[str]]:
    """Return the controls among the settings of an argument, and the other settings. Raises a `ModelError`."""
    controls: list[ControlArgument | ChoiceArgument] = []
    others, rest = [], list(settings)
    while rest:
        key, _, value = (part.strip() for part in rest[0].partition("="))
        if chosen := next((kind for kind in CHOICES if kind == key), None):
            if any(control.kind == chosen for control in controls):
                msg = f"found {chosen}= twice; expected one list, as in {chosen}=a/b"
                raise ModelError(msg)
            controls.append(choice(chosen, value))
            del rest[0]
            continue
        if key == SCOPE:
            controls[-1:] = [_scoped(controls[-1:], value)]
            del rest[0]
            continue
        kind = next((kind for kind in _FILES if kind == key), None)
        if kind is None:
            others.append(rest.pop(0))
            continue
        values = [",".join([value, *rest[1:end]]) for end in range(len(rest), 0, -1)]
        # The path alone may contain a comma.
        whole = next(
            (text for text in values if (file := _file_at_start(text)) and "," not in text[len(file) :]), value
        )
        controls.append(_control(kind, whole))
        del rest[: 1 + whole.count(",")]
    _check_conditions({control.kind for control in controls})
    return tuple(controls), others


def _check_conditions(kinds: Collection[ControlKind]) -> None:
    if "when" in kinds and not {*kinds} & {*ACTING}:
        msg = (
            "found when= without a vector that acts under it; expected one, as in "
            "steer=refuse.gguf:2@12,when=harm.gguf:0.1@8"
        )
        raise ModelError(msg)


def variants_of(model: Model, axes: Iterable[Sequence[Control | None]]) -> list[Model]:
    """Return a model once for each point of the grid, plain where no control is left. Raises a `ModelError`."""
    points = list(axes)
    names = Counter(name for axis in points for name in {control.label for control in axis if control is not None})
    if same := next((name for name, axes_with_it in names.items() if axes_with_it > 1), None):
        msg = f"two controls are named {same!r}; expected files with different names: rename one of them"
        raise ModelError(msg)
    grid: list[Variant] = []
    for point in product(*points):
        controls = list(filter(None, point))
        variant = Variant(controls=with_effect(controls))
        # Without a vector, all thresholds are the same.
        if len(variant.controls) == len(controls) or variant not in grid:
            grid.append(variant)
    if len(grid) > MAX_VARIANTS:
        msg = f"the lists make {len(grid)} variants; expected at most {MAX_VARIANTS}: give shorter lists"
        raise ModelError(msg)
    models = [_varied(model, variant) if variant.controls else model for variant in grid]
    if same := next((name for name, times in Counter(model.name for model in models).items() if times > 1), None):
        msg = f"two variants are named {same!r}; expected files with different names: rename one of them"
        raise ModelError(msg)
    return models


def check_together(model: Model, variant: Variant) -> None:
    """Check that the controls of a variant of a model go with each other and with its options; else a `ModelError`."""
    name = f"{model.name}{PLUS}{variant.name}"
    scopes = {control.scope for control in variant.controls}
    if any(control.kind == "when" for control in variant.controls) and not scopes <= {"all", "reply"}:
        msg = f"{name}: when= decides behind the prompt, and vectors act on the reply; expected no other scope with it"
        raise ModelError(msg)
    if "q" in (variant.value("kv") or "") and variant.value("flash") == "off":
        msg = f"{name}: a quantised KV cache needs flash attention; expected no flash=off with it: give two arguments"
        raise ModelError(msg)
    if model.options.split == "tensor" and variant.value("flash") == "off":
        msg = f"{name}: split=tensor needs flash attention; expected no flash=off with it"
        raise ModelError(msg)


def _varied(model: Model, variant: Variant) -> Model:
    check_together(model, variant)
    return replace(model, name=f"{model.name}{PLUS}{variant.name}", variant=variant)


def _control(kind: FileKind, value: str) -> ControlArgument:
    place = _file_at_start(value)
    found = _REST.fullmatch(value, len(place)) if place else _VALUE.fullmatch(value)
    if kind == "when" and not (found and found["strengths"] and found["layers"]):
        msg = f"found when={value}; expected FILE:THRESHOLD@LAYER, as in when=topic.gguf:0.2@8"
        raise ModelError(msg)
    if found is None or (kind == "lora" and found["layers"] is not None):
        msg = f"found {kind}={value}; expected {_FORM}"
        raise ModelError(msg)
    return ControlArgument(
        kind=kind,
        place=place or found["place"],
        strengths=_listed(found["strengths"], "strength", _strength) or (1.0,),
        layers=_listed(found["layers"], "layers", _layers) or (None,),
    )


def _scoped(before: Sequence[ControlArgument | ChoiceArgument], value: str) -> ControlArgument:
    control = before[0] if before else None
    if not isinstance(control, ControlArgument) or control.kind in {"lora", "when"}:
        msg = f"found {SCOPE}={value}; expected it behind a vector, as in steer=polite.gguf:4@10,{SCOPE}=reply"
        raise ModelError(msg)
    return replace(control, scopes=_listed(value, SCOPE, lambda text: next((s for s in _SCOPES if s == text), None)))


def _file_at_start(value: str) -> str:
    """The longest beginning of a value that is an existing file, before the end, a `:` or an `@`; empty for none."""
    ends = [len(value), *(at for at in range(len(value) - 1, 0, -1) if value[at] in ":@")]
    return next((value[:end] for end in ends if value[:end] and is_file(expanded(value[:end]))), "")


def _listed(text: str | None, what: str, read: Callable[[str], _T | None]) -> tuple[_T, ...]:
    """The values of a list, none without one; a `ModelError` for one that cannot be read, or stands there twice."""
    values: list[_T] = []
    for part in [] if text is None else text.split("/"):
        value = read(part.strip())
        if value is None or value in values:
            problem = f"found {what} {part!r}{'' if value is None else ' twice'}"
            msg = f"{problem}; expected {_EXPECTED[what]}, each once, as in steer=polite.gguf:0/4/8@10"
            raise ModelError(msg)
        values.append(value)
    return tuple(values)


def _strength(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value + 0.0 if math.isfinite(value) else None


def _layers(text: str) -> Layers | None:
    found = _LAYERS.fullmatch(text)
    if found is None:
        return None
    first, last = int(found["first"]), int(found["last"] or found["first"])
    return (first, last) if 1 <= first <= last else None
