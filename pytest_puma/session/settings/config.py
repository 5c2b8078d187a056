"""The command line and the ini file, read once into `Settings`; the command line wins.

Mistakes on the command line are reported in `pytest_configure`, before anything is collected or loaded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_puma.errors import PumaError
from pytest_puma.session.settings.options import INI, OptionSource, check_ini_keys, has_options, stated
from pytest_puma.session.settings.project import check_root, project_root

if TYPE_CHECKING:
    from pytest_puma.core import Model
    from pytest_puma.planning.settings import Settings

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
#: The default model.
DEMONSTRATION = "puma-tiny"
_COMPUTING = (
    *("model", "store", "offline", "retries", "temperature", "max-tokens"),
    *("strict", "threads", "determinism", "plan", "energy"),
)
#: Options that exclude others, and the reason; without `--puma-`.
_EXCLUDED = {
    "update-baseline": ("a baseline needs all samples of its cells", ("stop-early", "only-flips")),
    "shard": (
        "a shard computes a part of a run, and what needs the whole comes after the merge",
        ("update-baseline", "compare", "only-flips", "rescore", "offline", "plan"),
    ),
    "cluster": (
        "the model computes on other machines, of which this one sees the answers alone",
        ("plan", "offline", "rescore", "determinism"),
    ),
    "rescore": ("the answers are those of the run", _COMPUTING),
    "offline": ("nothing is computed offline", ("plan", "determinism")),
}
#: Options that select tests, and those that replace their cells.
_SELECTING = (
    "keyword",
    "markexpr",
    "puma_scenario",
    "puma_strategy",
    "puma_only_flips",
    "puma_shard",
    "deselect",
    "lf",
    "stepwise",
)
_NARROWING = ("puma_model", "puma_strategy", "puma_perturb", "puma_rescore")


def is_selected(config: pytest.Config) -> bool:
    """Whether only a part of the tests runs: by name, mark, file, scenario, strategy, last failures or flips."""
    return _names_files(config) or any(getattr(config.option, name, None) for name in _SELECTING)


def is_part(config: pytest.Config) -> bool:
    """Whether the collection may lack cells of the project; later deselection does not count."""
    narrowed = any(getattr(config.option, name, None) for name in _NARROWING)
    return narrowed or _names_files(config) or leaves_out(config)


def leaves_out(config: pytest.Config) -> bool:
    """Whether the command line ignores files; files that the ini file ignores are no part of the project."""
    return any(str(argument).startswith("--ignore") for argument in config.invocation_params.args)


def _names_files(config: pytest.Config) -> bool:
    return any("::" in argument or argument.endswith((".py", ".yaml", ".yml")) for argument in config.args)


def check_command_line(config: pytest.Config) -> None:
    """Read all options and ini keys; a `UsageError` for an unknown or invalid one."""
    check_ini_keys(config)
    # All keys, used or not: only reading reveals a value of the wrong type.
    if any([_ini(config, name) is not None for name in INI]) or has_options(config):  # noqa: C419
        check_root(config)
        _check_excluded(config)
        try:
            config.stash[SETTINGS] = _read(config)
        except (PumaError, OSError) as error:
            from pytest_puma.report import escape

            msg = escape.terminal_lines(f"puma: {error}")
            raise pytest.UsageError(msg) from error


def _check_excluded(config: pytest.Config) -> None:
    """Refuse options that exclude each other, and a selection of tests where all are needed."""
    if config.option.puma_prune_baseline and is_selected(config):
        msg = (
            "puma: --puma-prune-baseline: found a selection of tests; expected all tests, to see which are gone; "
            "leave out paths of files, -k, -m and other selections"
        )
        raise pytest.UsageError(msg)
    for option, (why, others) in _EXCLUDED.items():
        used = next((name for name in others if _is_used(config, name)), None)
        if used is not None and _is_used(config, option):
            msg = f"puma: --puma-{option} and --puma-{used}: {why}; expected one of the two"
            raise pytest.UsageError(msg)


def _is_used(config: pytest.Config, name: str) -> bool:
    """Whether the command line has an option; for early stopping, also whether the ini file has its key."""
    option = f"--puma-{name}"
    return OptionSource(config).value(option) is not None or bool(name == "stop-early" and stated(config, option)[1])


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings, with the models of the ini file, else the bundled one. A `PumaError` names a mistake."""
    settings = config.stash.get(SETTINGS, None) or _read(config)
    if not settings.request.models:
        from pytest_puma.session.settings.values import models_of

        models = models_of(config, OptionSource(config, is_ini=True), settings.storage, default=DEMONSTRATION)
        settings = replace(settings, request=replace(settings.request, models=models))
    config.stash[SETTINGS] = settings
    return settings


def known_models(config: pytest.Config) -> tuple[Model, ...]:
    """Return the models; none if the settings are invalid, which is reported elsewhere."""
    try:
        return settings_of(config).request.models
    except PumaError:
        return ()


def model_names(config: pytest.Config) -> tuple[str, ...]:
    """Return the names of the models; none if the settings are invalid."""
    return tuple(model.name for model in known_models(config))


def _read(config: pytest.Config) -> Settings:
    from pytest_puma.planning.settings import Settings
    from pytest_puma.session.settings import values
    from pytest_puma.session.settings.registry import registry_of

    registry, storage = registry_of(config), values.storage_of(config)
    return Settings(
        registry=registry,
        project=project_root(config),
        request=values.request_of(config, registry, storage),
        judging=values.judging_of(config, registry),
        storage=storage,
        reports=values.reports_of(config),
    )


def _ini(config: pytest.Config, key: str) -> object:
    try:
        return config.getini(key)
    except (ValueError, pytest.UsageError) as error:
        kind = INI[key][0]
        expected = kind if isinstance(kind, str) else "a whole number, or 'all'"
        msg = f"puma: ini key {key}: {error}; expected {expected}"
        raise pytest.UsageError(msg) from error
