"""The models that the command line or the ini file names, resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import DataError, Model, SettingsError
from pytest_puma.errors import naming
from pytest_puma.models.resolve import resolve_models
from pytest_puma.models.search import default_directories
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.platform.user_path import user_path
from pytest_puma.session.settings.project import project_root


def models_of(config: pytest.Config, arguments: Iterable[str], *, where: str, store: Path) -> tuple[Model, ...]:
    """Resolve the models; `where` names the option or ini key for errors, `store` is the file of the response store."""
    arguments, directories = list(arguments), _directories(config)
    if not arguments:
        return ()
    if config.option.puma_offline:
        models = _offline(arguments, directories, where=where, store=store)
    else:
        models = resolve_models(arguments, directories=directories, where=where)
        _check_answers(models, where=where)
    is_strict = config.option.puma_strict or config.getini("puma_strict")
    return tuple(_strict(model) if is_strict and model.source in {"weights", "store"} else model for model in models)


def _offline(arguments: list[str], directories: Sequence[Path], *, where: str, store: Path) -> tuple[Model, ...]:
    """Return the models of the answers in the response store."""
    from pytest_puma.planning.offline import offline_models
    from pytest_puma.responses.database import ResponseStore

    with closing(ResponseStore(store, readonly=True)) as reader:
        return offline_models(arguments, reader, where=where, directories=directories)


def _directories(config: pytest.Config) -> list[Path]:
    """Return the directories to search for models."""
    root = project_root(config)
    own = [_expanded(path, root) for path in config.getini("puma_model_dirs") or ()]
    return [*(own or default_directories(root)), bundled_folder("models")]


def _expanded(folder: Path, root: Path) -> Path:
    """Return a folder of `puma_model_dirs` with the home for `~`, before which pytest has put that of the ini file."""
    text = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return root / user_path(str(text), where="ini key puma_model_dirs")


def _check_answers(models: Iterable[Model], *, where: str) -> None:
    """Read files of answers, so that a mistake in one is reported before anything runs."""
    from pytest_puma.responses.answer_file import read_answers

    try:
        for model in models:
            if model.source == "answers":
                read_answers(model)
    except DataError as error:
        msg = f"{where} {error}"
        raise SettingsError(msg) from error


def _strict(model: Model) -> Model:
    with naming(model.name):
        return replace(model, options=replace(model.options, strict=True))
