"""Models whose answers are in the response store; their files need not exist.

models/q.gguf           a file that is there: the answers of its weights, under whatever name they were given
qwen2.5-3b              no such file: the name under which one answered, or a path of that name
qwen2.5-3b@5a3f         ... and the beginning of the digest of its weights, whatever file is there
small=qwen2.5-3b@5a3f   ... under another name. Without a digest, an alias is the name under which a file answered
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from pytest_puma.core import Control, Model, ModelError
from pytest_puma.models.argument import RECORDED, ModelArgument, parse_argument
from pytest_puma.models.choices import ChoiceArgument
from pytest_puma.models.names import name_from_file
from pytest_puma.models.quantised import made_path
from pytest_puma.models.resolve import Points, find_model, points_of, weights_point
from pytest_puma.models.server import SERVER, server_model, without_secrets
from pytest_puma.models.variants import ControlArgument, variants_of
from pytest_puma.models.weights import weights_digest
from pytest_puma.phrases import named
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.recipe import DIGITS


def offline_models(
    arguments: Sequence[str], store: ResponseStore, *, where: str, directories: Sequence[Path] = ()
) -> tuple[Model, ...]:
    """Return the models of these arguments; a `ModelError` names one that the store does not know, or knows twice.

    `directories` are searched for files.
    """
    return tuple(
        model
        for text in arguments
        for model in _models(text, store, directories, where=f"{where} {without_secrets(text)!r}")
    )


def _models(text: str, store: ResponseStore, directories: Sequence[Path], *, where: str) -> list[Model]:
    if text.strip().startswith(RECORDED):
        msg = f"{where}: recorded: answers cannot be combined with --puma-offline; use one"
        raise ModelError(msg)
    try:
        argument = _argument(text.strip())
        file = _existing(argument, directories)
        plain = Model(name=_name(argument, file), path=store.path, options=argument.options, source="store")
        variants = variants_of(plain, [_points(control, directories) for control in argument.controls])
        return [replace(model, weights=_weights(model, argument, file, store)) for model in variants]
    except ModelError as error:
        msg = f"{where}: {error}"
        raise ModelError(msg) from error


def _argument(text: str) -> ModelArgument:
    """The argument; a server is known by its name."""
    if text.startswith(SERVER):
        return ModelArgument(place=server_model(text.removeprefix(SERVER)).name)
    return parse_argument(text)


def _existing(argument: ModelArgument, directories: Sequence[Path]) -> Path | None:
    """The file that an argument names, None if it is not there."""
    try:
        return find_model(argument.place, directories, downloads=False)
    except ModelError:
        return None


def _name(argument: ModelArgument, file: Path | None) -> str:
    return argument.alias or (_file_name(argument) if file is None else name_from_file(file.name))


def _file_name(argument: ModelArgument) -> str:
    return _stem(argument.place.partition("@")[0])


def _stem(place: str) -> str:
    """The name of a model, or of weights, by a place where no file need be."""
    return name_from_file(PurePath(place.rpartition(":")[2]).name)


def _points(argument: ControlArgument | ChoiceArgument, directories: Sequence[Path]) -> Points:
    """The points of a list; of weights without a file, the name is enough."""
    if isinstance(argument, ControlArgument) or argument.kind != "quant":
        return points_of(argument, directories)
    return [_weights_point(value, directories) for value in argument.values]


def _weights_point(value: str, directories: Sequence[Path]) -> Control | None:
    try:
        return weights_point(value, directories)
    except ModelError:
        return Control(kind="quant", name=_stem(value))


def _weights(model: Model, argument: ModelArgument, file: Path | None, store: ResponseStore) -> str:
    """The digest of the weights that answered for a model of the grid."""
    if model.variant is not None and model.variant.weights is not None:
        return _other(model, model.variant.weights.controls[0], file, store)
    return _by_name(argument, store) if file is None else _by_file(argument, file, store)


def _other(model: Model, weights: Control, file: Path | None, store: ResponseStore) -> str:
    """The digest of other weights: of their file if it is there, else of those that answered under their name."""
    known, name = weights.sha256, model.weights_name
    if not known and file is not None:
        made = made_path(file, weights.name, weights_digest(file))
        known = weights_digest(made) if made.is_file() else ""
    digests = store.weights(name)
    fitting = [digest for digest in digests if digest.startswith(known)]
    if len(fitting) == 1:
        return fitting[0]
    shown = ", ".join(digest[:DIGITS] for digest in digests)
    others = f" (weights with these digests answered under this name: {shown});" if digests else _kept(store)
    msg = f"no answers of {name} are kept{others} run without --puma-offline"
    raise ModelError(msg)


def _by_file(argument: ModelArgument, file: Path, store: ResponseStore) -> str:
    """The digest of the weights of a model whose file is there: other weights of its name never count."""
    name, digest = _name(argument, file), weights_digest(file)
    if store.has_weights(digest):
        return digest
    namesakes = ", ".join(f"{name}@{weights[:DIGITS]}" for weights in store.weights(name))
    others = f"; other weights answered under this name: give {namesakes} for them, or" if namesakes else _kept(store)
    msg = f"no answers of the weights {digest[:DIGITS]} in {file} are kept{others} run without --puma-offline"
    raise ModelError(msg)


def _by_name(argument: ModelArgument, store: ResponseStore) -> str:
    """The digest of the weights that answered under the name of a model whose file is not there."""
    name, digest = _name(argument, None), argument.place.partition("@")[2]
    digests = store.weights(name)
    if not digests and digest:
        digests = store.weights(_file_name(argument))
    fitting = [weights for weights in digests if weights.startswith(digest)]
    if len(fitting) == 1:
        return fitting[0]
    if not digests:
        msg = f"no answers of {name} are kept{_kept(store)} run without --puma-offline"
    elif not fitting:
        shown = ", ".join(weights[:DIGITS] for weights in digests)
        msg = f"found no weights {digest}; expected the beginning of one of {shown}"
    else:
        names = ", ".join(f"{name}@{weights[:DIGITS]}" for weights in fitting)
        msg = f"different files answered under this name; expected one of {names}"
    raise ModelError(msg)


def _kept(store: ResponseStore) -> str:
    """The reason why the store has no answers, else the names of the models whose answers it has."""
    notes = store.take_notes()
    reason = notes[0] if notes else f"there are answers of {named(store.models())}"
    return f" ({reason});"
