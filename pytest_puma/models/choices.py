"""Grammar of lists of weights and of engine options in a model argument.

    quant=TYPE_OR_FILE[/TYPE_OR_FILE...]    weights made of the model's own file, or another file of the model
    kv=TYPE[/TYPE...]                       the type of the numbers in the KV cache
    flash=on|off|auto[/...]                 whether flash attention is used

    q.gguf,quant=none/Q8_0/Q4_K_M/their-q3.gguf     a ladder: q, q+Q8_0, q+Q4_K_M, q+their-q3
    q.gguf,kv=f16/q8_0                              q, q+kv-q8_0

`none`, `f16` and `auto` are the plain model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core import Control, ModelError
from pytest_puma.models.quantised import NEED_MATRIX, TYPES
from pytest_puma.models.search import expanded, is_file

ChoiceKind: TypeAlias = Literal["quant", "kv", "flash"]
CHOICES: tuple[ChoiceKind, ...] = get_args(ChoiceKind)
#: The model's own file.
NONE = "none"
#: The values of each option of the engine; the first one is the plain model.
_VALUES = {
    "kv": ("f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"),
    "flash": ("auto", "on", "off"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceArgument:
    """The parsed values of a list; files are not yet looked up."""

    kind: ChoiceKind
    values: tuple[str, ...]

    def points(self) -> list[Control | None]:
        """Return an option of the engine at each value; None for that of the plain model."""
        plain = _VALUES[self.kind][0]
        return [None if value == plain else Control(kind=self.kind, name=value) for value in self.values]


def choice(kind: ChoiceKind, text: str) -> ChoiceArgument:
    """Parse a list; a `ModelError` names an invalid value, and one that stands there twice."""
    values = _weights(text) if kind == "quant" else tuple(text.lower().split("/"))
    known = f"{NONE}, types ({', '.join(TYPES)}) and files" if kind == "quant" else ", ".join(_VALUES[kind])
    for value, times in Counter(values).items():
        if times > 1 or not value or (kind != "quant" and value not in _VALUES[kind]):
            msg = f"found {kind}={text}{f' with {value} twice' if times > 1 else ''}; expected {known}, each once"
            raise ModelError(msg)
        if value in NEED_MATRIX:
            msg = f"{value} needs an importance matrix: make it with llama-quantize, and name the file"
            raise ModelError(msg)
    return ChoiceArgument(kind=kind, values=values)


def _weights(text: str) -> tuple[str, ...]:
    """Types, and places, which may contain a `/`: one ends where a file exists, behind `.gguf`, or before a type."""
    pieces, values = text.split("/"), []
    while pieces:
        end = 1 if _known(pieces[0]) else _end_of_place(pieces)
        place = "/".join(pieces[:end])
        values.append(_known(place) or place)
        del pieces[:end]
    return tuple(values)


def _known(text: str) -> str:
    """The spelling of a type, or of `none`; empty for anything else."""
    return next((name for name in (NONE, *TYPES, *NEED_MATRIX) if name.lower() == text.strip().lower()), "")


def _end_of_place(pieces: list[str]) -> int:
    """The number of pieces of the place with which a list begins."""
    ends = range(len(pieces), 0, -1)
    if file := next((end for end in ends if is_file(expanded("/".join(pieces[:end])))), 0):
        return file
    named = (end for end, piece in enumerate(pieces, start=1) if piece.lower().endswith(".gguf"))
    before = (end for end, piece in enumerate(pieces[1:], start=1) if _known(piece))
    return min(next(named, len(pieces)), next(before, len(pieces)))
