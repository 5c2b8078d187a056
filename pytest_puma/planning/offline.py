"""Models whose answers are in the response store; their files need not exist.

models/q.gguf           a file that is there: the answers of its weights, under whatever name they were given
qwen2.5-3b              no such file: the name under which one answered, or a path of that name
qwen2.5-3b@5a3f         ... and the beginning of the digest of its weights, whatever file is there
small=qwen2.5-3b@5a3f   ... under another name. Without a digest, an alias is the name under which a file answered
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from pytest_puma.core import Model, ModelError
from pytest_puma.models.argument import RECORDED, ModelArgument, parse_argument
from pytest_puma.models.names import name_from_file
from pytest_puma.models.resolve import find_control, find_model
from pytest_puma.models.server import SERVER, server_model, without_secrets
from pytest_puma.models.variants import variants_of
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
        name, weights = _by_name(argument, store) if file is None else _by_file(argument, file, store)
        plain = Model(name=name, path=store.path, options=argument.options, source="store", weights=weights)
        return variants_of(plain, [(control, find_control(control, directories)) for control in argument.controls])
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


def _by_file(argument: ModelArgument, file: Path, store: ResponseStore) -> tuple[str, str]:
    """The name of a model whose file is there, and the digest of its weights: other weights of its name never count."""
    name = argument.alias or name_from_file(file.name)
    digest = weights_digest(file)
    if store.has_weights(digest):
        return name, digest
    namesakes = ", ".join(f"{name}@{weights[:DIGITS]}" for weights in store.weights(name))
    others = f"; other weights answered under this name: give {namesakes} for them, or" if namesakes else _kept(store)
    msg = f"no answers of the weights {digest[:DIGITS]} in {file} are kept{others} run without --puma-offline"
    raise ModelError(msg)


def _by_name(argument: ModelArgument, store: ResponseStore) -> tuple[str, str]:
    """The name of a model whose file is not there, and the digest of the weights that answered under it."""
    file, _, digest = argument.place.partition("@")
    file_name = name_from_file(PurePath(file.rpartition(":")[2]).name)
    name = argument.alias or file_name
    digests = store.weights(name)
    if not digests and digest:
        digests = store.weights(file_name)
    fitting = [weights for weights in digests if weights.startswith(digest)]
    if len(fitting) == 1:
        return name, fitting[0]
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
