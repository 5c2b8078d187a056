"""The response store of this process, if the run has one."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.settings.run_id import run_id

if TYPE_CHECKING:
    from pytest_puma.core import Model, Responder
    from pytest_puma.responses.database import ResponseStore

_STORE: pytest.StashKey[ResponseStore] = pytest.StashKey()


def keeping(config: pytest.Config, responder: Responder, model: Model) -> Responder:
    """Return a responder with the store around it, or as it is: without a store, or if it has no identity."""
    mode = settings_of(config).storage.mode
    if mode == "off" or not responder.identity:
        return responder
    from pytest_puma.responses.keeping import KeepingResponder

    return KeepingResponder(responder, store_of(config), model, mode=mode)


def offline(config: pytest.Config, model: Model) -> Responder:
    """Return the reader of a model's answers in the store."""
    from pytest_puma.responses.reading import ReadingResponder
    from pytest_puma.responses.store_source import StoreSource

    return ReadingResponder(StoreSource(store_of(config), model))


def finish(config: pytest.Config) -> list[str]:
    """End the run for the store; return a line if it was too large. Called once, after all processes have finished."""
    from pytest_puma.core import DataError
    from pytest_puma.responses.upkeep import finish_run

    settings = settings_of(config).storage
    if _STORE in config.stash:
        config.stash[_STORE].close()
    if settings.mode == "off":
        return []
    try:
        pruned = finish_run(settings.path, settings.megabytes)
    except (DataError, OSError, sqlite3.Error) as error:
        return [f"the response store: {error}"]
    if pruned is None:
        return []
    size = f"{settings.path.name} has {pruned.size / 2**20:.0f} MB (puma_store_mb is {settings.megabytes})"
    return [f"the response store: removed {pruned.answers:,} answers of {pruned.cells} cells; {size}"]


def store_of(config: pytest.Config) -> ResponseStore:
    """Return the store, which is opened when it is first needed."""
    if _STORE not in config.stash:
        from pytest_puma.responses.database import ResponseStore

        settings = settings_of(config)
        name, started = run_id(config)
        config.stash[_STORE] = ResponseStore(
            settings.storage.path,
            run=name,
            started=started.isoformat(timespec="seconds"),
            keep_prompts=settings.storage.prompts,
            readonly=settings.storage.offline,
        )
    return config.stash[_STORE]
