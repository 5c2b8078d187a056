"""The errors a user can cause. Each message says who, what was found, what was expected, what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


class PumaError(Exception):
    """Anything that pytest-puma refuses, in one sentence meant for the user."""


class SettingsError(PumaError):
    """An option, ini value, marker or run-spec that cannot be obeyed."""


class ModelError(SettingsError):
    """A model argument that names no usable GGUF file."""


class DataError(PumaError):
    """A data file or a scenario's rows that cannot be scored: names the file, the row and the column."""


class TemplateError(PumaError):
    """A prompt template that is missing, malformed, or asks for a variable that does not exist."""


class EngineError(PumaError):
    """llama.cpp (or the backend in its place) could not do what was asked of it."""


class UnchangedError(PumaError):
    """A perturbation that changes no prompt of a cell: it would be asked the same again."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'few_shot_3'? `, empty where nothing known is near."""
    nearest = get_close_matches(name, list(known), n=1)
    return f"did you mean {nearest[0]!r}? " if nearest else ""


def check_limits(limits: Mapping[str, tuple[float | None, float, float]]) -> None:
    """Refuse what is no number from its least to its most; `None` is not set, and fine."""
    for name, (value, least, most) in limits.items():
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (numeric and least <= value <= most):
            end = "" if most == math.inf else f" to {most}"
            msg = f"{name} is {value!r}; expected a number from {least}{end}"
            raise SettingsError(msg)
