"""The models that the command line or the ini file names, resolved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.settings import option_values
from pytest_puma.session.settings.project import project_root

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_puma.core import Model


def models_of(config: pytest.Config, arguments: Iterable[str], *, where: str) -> tuple[Model, ...]:
    """Resolve the models; `where` names the option or ini key for errors."""
    arguments = list(arguments)
    if not arguments:
        return ()
    if config.option.puma_offline:
        return _offline(config, arguments, where=where)
    from pytest_puma.models import resolve_models

    resolved = resolve_models(arguments, directories=_directories(config), where=where)
    if any(model.source == "answers" for model in resolved):
        _check_answers(resolved, where=where)
    return tuple(_strict(model) if model.computes else model for model in resolved) if _is_strict(config) else resolved


def _offline(config: pytest.Config, arguments: list[str], *, where: str) -> tuple[Model, ...]:
    """The models of the answers in the response store."""
    from pytest_puma.planning.offline import offline_models
    from pytest_puma.responses.database import ResponseStore

    reader = ResponseStore(option_values.store(config).path, readonly=True)
    try:
        models = offline_models(arguments, reader, where=where, directories=_directories(config))
    finally:
        reader.close()
    return tuple(map(_strict, models)) if _is_strict(config) else models


def _directories(config: pytest.Config) -> list[Path]:
    """The directories to search for models."""
    from pytest_puma.models import default_directories
    from pytest_puma.platform.bundled import bundled_folder

    root = project_root(config)
    own = [_expanded(path, root) for path in config.getini("puma_model_dirs") or ()] or default_directories(root)
    return [*own, bundled_folder("models")]


def _expanded(folder: Path, root: Path) -> Path:
    """A folder of `puma_model_dirs` with the home for `~`, before which pytest has put the folder of the ini file."""
    from pytest_puma.platform.user_path import user_path

    text = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return root / user_path(str(text), where="ini key puma_model_dirs")


def _is_strict(config: pytest.Config) -> bool:
    return bool(config.option.puma_strict or config.getini("puma_strict"))


def _check_answers(resolved: Iterable[Model], *, where: str) -> None:
    """Read files of answers, so that a mistake in one is reported before anything runs."""
    from pytest_puma.core import DataError, SettingsError
    from pytest_puma.responses.answers import read_answers

    try:
        for model in resolved:
            if model.source == "answers":
                read_answers(model)
    except DataError as error:
        msg = f"{where} {error}"
        raise SettingsError(msg) from error


def _strict(model: Model) -> Model:
    from pytest_puma.core import SettingsError

    try:
        return replace(model, options=replace(model.options, strict=True))
    except SettingsError as error:
        msg = f"{model.name}: {error}"
        raise SettingsError(msg) from error
