"""The errors a user can cause. Each message says who, what was found, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Mapping


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


def check_limits(limits: Mapping[str, tuple[float | None, float, float]]) -> None:
    """Refuse a value that lies outside of its least and most; `None` is not set, and fine."""
    for name, (value, least, most) in limits.items():
        if value is not None and not least <= value <= most:
            msg = f"{name} is {value!r}; expected a number from {least:.15g} to {most:.15g}"
            raise SettingsError(msg)
