"""Resolution of `--puma-model` arguments to checked models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from pytest_puma.core import Control, Model, ModelError
from pytest_puma.core.variant import ControlKind
from pytest_puma.datasets.hub import HUB
from pytest_puma.models.argument import PACKAGE, RECORDED, ModelArgument, parse_argument, recorded_model
from pytest_puma.models.choices import NONE, ChoiceArgument
from pytest_puma.models.gguf import GgufFile, read_gguf
from pytest_puma.models.names import name_from_file
from pytest_puma.models.pairs import SUFFIX, recipe_of
from pytest_puma.models.quantised import TYPES
from pytest_puma.models.search import find_file, is_file, part_paths
from pytest_puma.models.server import SERVER, check_key, server_model, without_secrets
from pytest_puma.models.sources import find_in_package, find_on_hub
from pytest_puma.models.variants import ControlArgument, variants_of
from pytest_puma.models.weights import stamps_of, weights_digest
from pytest_puma.phrases import named

Points: TypeAlias = "list[Control | None]"

_NO_MODEL = ("adapter", "mmproj", "imatrix")  # `general.type` of files that only accompany a model
_NO_VOCABULARY = ("", "none", "no_vocab")


def resolve_models(
    arguments: Sequence[str],
    *,
    directories: Sequence[Path],
    where: str = "--puma-model",
    look_up: Callable[[ModelArgument], list[Model]] | None = None,
) -> tuple[Model, ...]:
    """Return the models that the arguments name, in the same order.

    A place `hf:...` is downloaded unless the cache has it, `package:...` is a file of an installed package,
    `recorded:...` a file of answers, `server:...` a server. An argument with lists of strengths names several variants
    of its model. `directories` are searched after the current one; `look_up` replaces the search for weights. A
    `ModelError` names the argument and its source, `where`; all arguments are parsed before the first is looked up.
    """
    models: list[Model] = []
    given: list[tuple[str, Model]] = []
    for text, argument in _parsed(arguments, where).items():
        with _named_errors(where, text):
            if isinstance(argument, Model):
                found = [argument]
            else:
                found = _resolve(argument, directories) if look_up is None else look_up(argument)
            for model in found:
                namesake = next((text for text, other in given if _clash(model, other)), None)
                if namesake is not None:
                    other = f"give one of them another name: {_renamed(argument)}"
                    msg = f"{without_secrets(namesake)!r} is named {model.name!r} too; {other}"
                    raise ModelError(msg)
            given += [(text, model) for model in found]
            models += found
    return tuple(models)


def _clash(model: Model, other: Model) -> bool:
    """Whether two models have one name, or are variants of different models of one name."""
    return model.name == other.name or (model.loaded.name == other.loaded.name and model.loaded != other.loaded)


def _renamed(argument: ModelArgument | Model) -> str:
    """The form of an argument that gives the model another name."""
    if isinstance(argument, ModelArgument):
        return f"alias={argument.place}"
    return (
        f"recorded:NAME={argument.path.name}" if argument.endpoint is None else f"server:NAME={argument.endpoint.url}"
    )


def inspect_model(path: Path) -> GgufFile:
    """Return the header of a model; tensors and size are those of all its parts.

    A `ModelError` gives the reason if llama.cpp cannot run the model.
    """
    parts = part_paths(path)
    if path != parts[0]:
        msg = f"{path} is one of {len(parts)} parts; give the first of them: {parts[0].name}"
        raise ModelError(msg)
    missing = [part.name for part in parts if not is_file(part)]
    if missing:
        msg = f"{path} lacks {len(missing)} of its {len(parts)} parts: put {named(missing, 3)} beside it"
        raise ModelError(msg)
    files = [read_gguf(part) for part in parts]
    total = sum(file.tensors for file in files), sum(file.size for file in files)
    model = replace(files[0], tensors=total[0], size=total[1])
    if problem := _problem(model, named_parts=len(parts)):
        msg = f"{path} {problem}"
        raise ModelError(msg)
    return model


def _parsed(arguments: Sequence[str], where: str) -> dict[str, ModelArgument | Model]:
    """The arguments by their text; a file of answers and a server are models already, as nothing is looked up."""
    parsed: dict[str, ModelArgument | Model] = {}
    for text in arguments:
        with _named_errors(where, text):
            if text in parsed:
                msg = "given twice; give it once, or under two aliases: a=..., b=..."
                raise ModelError(msg)
            parsed[text] = _parse(text.strip())
    return parsed


def _parse(text: str) -> ModelArgument | Model:
    if text.startswith(SERVER):
        model = server_model(text.removeprefix(SERVER))
        check_key(model)
        return model
    return recorded_model(text.removeprefix(RECORDED)) if text.startswith(RECORDED) else parse_argument(text)


def _resolve(argument: ModelArgument, directories: Sequence[Path]) -> list[Model]:
    if argument.options.rpc is not None:
        msg = (
            f"found rpc={argument.options.rpc}; expected --puma-cluster with it, as in --puma-cluster local:1: a lost "
            "server ends the process that uses it, and a frozen one stops it; a worker is replaced"
        )
        raise ModelError(msg)
    path = find_model(argument.place, directories)
    if not inspect_model(path).experts and argument.options.cpu_moe is not None:
        msg = f"found cpu_moe={argument.options.cpu_moe}; expected it for a mixture of experts, which {path} is not"
        raise ModelError(msg)
    plain = Model(
        name=argument.alias or name_from_file(path.name),
        # Links are not resolved: in the hub's cache, a part's name is a link to a file with another name.
        path=path.absolute(),
        options=argument.options,
        stamps=stamps_of(path),
    )
    points = [points_of(control, directories) for control in argument.controls]
    for control in filter(None, chain.from_iterable(points)):
        if control.kind == "quant" and control.sha256:
            inspect_model(control.path)
    variants = variants_of(plain, points)
    if argument.controls:
        from pytest_puma.models.fit import check_fit

        check_fit(variants)
    return variants


def points_of(argument: ControlArgument | ChoiceArgument, directories: Sequence[Path]) -> Points:
    """Return the points of a list, None for the plain model; a `ModelError` if there is no such file."""
    if isinstance(argument, ControlArgument):
        return argument.points(_found(argument.kind, argument.place, directories))
    if argument.kind != "quant":
        return argument.points()
    return [weights_point(value, directories) for value in argument.values]


def weights_point(value: str, directories: Sequence[Path]) -> Control | None:
    """Return weights of a type, or in a file, None for those of the model; a `ModelError` if there is no such file."""
    if value in {NONE, *TYPES}:
        return None if value == NONE else Control(kind="quant", name=value)
    try:
        return _found("quant", value, directories)
    except ModelError as error:
        msg = f"quant={value} is none of the types {', '.join(TYPES)}, and no file: {error}"
        raise ModelError(msg) from error


def _found(kind: ControlKind, place: str, directories: Sequence[Path]) -> Control:
    """The control in a file; a `ModelError` if there is no such file."""
    return Control(kind=kind, **control_fields(find_model(place, directories)))


def control_fields(path: Path, name: str = "") -> dict[str, Any]:
    """Return the fields of a control that follow from its file; `name`: in place of that of the file."""
    name = name_from_file(name or path.name.removesuffix(SUFFIX))
    return {"name": name, "path": path.absolute(), "sha256": weights_digest(path), "recipe": recipe_of(path)}


def find_model(place: str, directories: Sequence[Path], *, downloads: bool = True) -> Path:
    """Return the file of weights that a place names; a `ModelError` if there is none.

    Without `downloads`, a place on the hub is a file in the hub's cache, and no connection is made.
    """
    if place.startswith(HUB):
        return find_on_hub(place.removeprefix(HUB), downloads=downloads)
    if place.startswith(PACKAGE):
        return find_in_package(place.removeprefix(PACKAGE))
    return find_file(place, directories)


def _problem(model: GgufFile, *, named_parts: int) -> str | None:
    """The reason why this model cannot be run, if there is one."""
    if model.kind in _NO_MODEL:
        return f"is of the kind {model.kind!r}; expected a language model: give the file of the model itself"
    if model.parts != named_parts:
        return (
            f"is the first of {model.parts} parts by its header, of {named_parts} by its name; "
            "restore the original file names, as in q-00001-of-00003.gguf"
        )
    if not model.architecture:
        return "has no general.architecture in its header: it is damaged, or not a model; download it again"
    if not model.tensors:
        return "has a vocabulary only, and no tensors; expected a file with weights"
    if model.tokenizer in _NO_VOCABULARY:
        return "has no tokenizer; expected a language model with its vocabulary: convert it with its tokenizer files"
    return None


@contextmanager
def _named_errors(where: str, text: str) -> Iterator[None]:
    """Prefix errors with the argument that caused them."""
    try:
        yield
    except ModelError as error:
        msg = f"{where} {without_secrets(text)!r}: {error}"
        raise ModelError(msg) from error
