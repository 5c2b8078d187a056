"""The deed behind `--puma-model`: arguments in, checked models out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_puma.core import Model, ModelError
from pytest_puma.models.argument import HUB, PACKAGE, ModelArgument, parse_argument
from pytest_puma.models.gguf import GgufFile, read_gguf
from pytest_puma.models.hub import download
from pytest_puma.models.names import name_from_file
from pytest_puma.models.package import find_in_package
from pytest_puma.models.parts import part_paths
from pytest_puma.models.search import find_file, is_file

_NO_MODEL = ("adapter", "mmproj", "imatrix")  # what `general.type` says of files that belong to a model
_NO_VOCABULARY = ("", "none", "no_vocab")


def resolve_models(
    arguments: Sequence[str], *, directories: Sequence[Path], where: str = "--puma-model"
) -> tuple[Model, ...]:
    """The models that the arguments name, in their order.

    A place `hf:...` is downloaded unless the cache has it, one `package:...` is a file of an installed package;
    `directories` are searched behind the current one. A `ModelError` names the argument, as one of `where`; all
    are read before the first is looked up.
    """
    models: dict[str, Model] = {}
    for text, argument in _parsed(arguments, where).items():
        with _told_of(where, text):
            model = _resolve(argument, directories)
            namesake = next((other for other, known in models.items() if known.name == model.name), None)
            if namesake is not None:
                msg = f"{namesake!r} is named {model.name!r} too; give one of them another name: alias={argument.place}"
                raise ModelError(msg)
            models[text] = model
    return tuple(models.values())


def inspect_model(path: Path) -> GgufFile:
    """What the header tells of a model, its parts taken together.

    A `ModelError` says why llama.cpp could not answer anything with it.
    """
    parts = part_paths(path)
    if path != parts[0]:
        msg = f"{path} is one of {len(parts)} parts; give the first of them: {parts[0].name}"
        raise ModelError(msg)
    missing = [part.name for part in parts if not is_file(part)]
    if missing:
        msg = f"{path} lacks {len(missing)} of its {len(parts)} parts: put {', '.join(missing[:3])} beside it"
        raise ModelError(msg)
    files = [read_gguf(part) for part in parts]
    total = sum(file.tensors for file in files), sum(file.size for file in files)
    model = replace(files[0], tensors=total[0], size=total[1])
    if problem := _problem(model, named_parts=len(parts)):
        msg = f"{path} {problem}"
        raise ModelError(msg)
    return model


def _parsed(arguments: Sequence[str], where: str) -> dict[str, ModelArgument]:
    parsed: dict[str, ModelArgument] = {}
    for text in arguments:
        with _told_of(where, text):
            if text in parsed:
                msg = "given twice; give it once, or under two aliases: a=..., b=..."
                raise ModelError(msg)
            parsed[text] = parse_argument(text)
    return parsed


def _resolve(argument: ModelArgument, directories: Sequence[Path]) -> Model:
    path = _find(argument.place, directories)
    inspect_model(path)
    # Not resolved: the hub's cache links a part's name to a file that bears another.
    return Model(name=argument.alias or name_from_file(path.name), path=path.absolute(), options=argument.options)


def _find(place: str, directories: Sequence[Path]) -> Path:
    if place.startswith(HUB):
        return download(place.removeprefix(HUB))
    if place.startswith(PACKAGE):
        return find_in_package(place.removeprefix(PACKAGE))
    return find_file(place, directories)


def _problem(model: GgufFile, *, named_parts: int) -> str | None:
    """Why this is no language model that can be run."""
    if model.kind in _NO_MODEL:
        return f"is of the kind {model.kind!r}; expected a language model: give the file of the model itself"
    if model.parts != named_parts:
        return (
            f"says that it is the first of {model.parts} parts, its name says {named_parts}; "
            "give the files the names they had, as in q-00001-of-00003.gguf"
        )
    if not model.architecture:
        return "has no general.architecture in its header: it is damaged, or no model; download it again"
    if not model.tensors:
        return "has a vocabulary only, and no tensors; expected a file with weights"
    if model.tokenizer in _NO_VOCABULARY:
        return "has no tokenizer; expected a language model with its vocabulary: convert it with its tokenizer files"
    return None


@contextmanager
def _told_of(where: str, text: str) -> Iterator[None]:
    """Put in front of an error which argument it is about."""
    try:
        yield
    except ModelError as error:
        msg = f"{where} {text!r}: {error}"
        raise ModelError(msg) from error
