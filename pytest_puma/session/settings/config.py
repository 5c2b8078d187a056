"""The command line and the ini file, read once into `Settings`; the command line wins.

Mistakes on the command line are reported in `pytest_configure`, before anything is collected or loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.settings import option_values
from pytest_puma.session.settings.compared import axes, earlier_run
from pytest_puma.session.settings.models import models_of
from pytest_puma.session.settings.options import INI, attribute, check_ini_keys, has_options
from pytest_puma.session.settings.project import check_root, project_root
from pytest_puma.session.settings.selection import is_selected

if TYPE_CHECKING:
    from pytest_puma.planning.settings import Registry, RunOptions, Settings

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
#: The default model.
DEMONSTRATION = "puma-tiny"
#: The default folder of baselines.
BASELINES = "benchmarks/baselines"
#: Options that are fields of `RunOptions` and ini keys of the same name.
_RUN_OPTIONS = ("samples", "repeats", "seed", "max_tokens", "temperature")
#: Options that change answers or forecast them, so that they mean nothing for answers that exist.
_OF_MODELS = (
    "--puma-model",
    "--puma-store",
    "--puma-offline",
    "--puma-temperature",
    "--puma-max-tokens",
    "--puma-strict",
    "--puma-threads",
    "--puma-determinism",
    "--puma-plan",
)
#: Options that compute, so that they mean nothing offline.
_OF_COMPUTING = ("--puma-plan", "--puma-determinism")


def check_command_line(config: pytest.Config) -> None:
    """Read all options and ini keys; a `UsageError` for an unknown or invalid one."""
    check_ini_keys(config)
    used = has_options(config)
    # All keys, used or not: only reading reveals a value of the wrong type.
    used |= any([_ini(config, name) is not None for name in INI])  # noqa: C419
    if used:
        check_root(config)
        if config.option.puma_prune_baseline and is_selected(config):
            msg = (
                "puma: --puma-prune-baseline: found a selection of tests; expected all tests, to see which are gone; "
                "leave out paths of files, -k, -m and other selections"
            )
            raise pytest.UsageError(msg)
        _check_whole(config)
        _check_rescoring(config)
        _check_offline(config)
        from pytest_puma.core import PumaError

        try:
            config.stash[SETTINGS] = _read(config)
            _check_baselines(config)
        except (PumaError, OSError) as error:
            from pytest_puma.report import escape

            msg = escape.terminal_lines(f"puma: {error}")
            raise pytest.UsageError(msg) from error


def _check_whole(config: pytest.Config) -> None:
    """Refuse to make baselines of a part of the samples."""
    parts = {"--puma-stop-early": option_values.stops_early(config), "--puma-only-flips": config.option.puma_only_flips}
    used = [name for name, value in parts.items() if value]
    if config.option.puma_update_baseline and used:
        msg = (
            f"puma: --puma-update-baseline and {used[0]}: a baseline needs all samples of its cells; "
            "expected one of the two"
        )
        raise pytest.UsageError(msg)


def _check_baselines(config: pytest.Config) -> None:
    """Refuse to write baselines where that cannot succeed, before anything is computed."""
    from pytest_puma.core import SettingsError
    from pytest_puma.platform.atomic import obstacle

    folder = config.stash[SETTINGS].baselines.folder
    if config.option.puma_update_baseline and (reason := obstacle(folder / "any.json")):
        msg = f"--puma-update-baseline: {reason}; expected a folder in which files can be written"
        raise SettingsError(msg)


def _check_rescoring(config: pytest.Config) -> None:
    """Refuse options about answers that are to come, where those of an earlier run are read."""
    used = _first_used(config, _OF_MODELS)
    if config.option.puma_rescore is not None and used is not None:
        msg = f"puma: --puma-rescore and {used}: the answers are those of the run; expected one of the two"
        raise pytest.UsageError(msg)


def _check_offline(config: pytest.Config) -> None:
    """Refuse to compute what an offline run reads."""
    used = _first_used(config, _OF_COMPUTING)
    if config.option.puma_offline and used is not None:
        msg = f"puma: --puma-offline and {used}: nothing is computed offline; expected one of the two"
        raise pytest.UsageError(msg)


def _first_used(config: pytest.Config, options: Iterable[str]) -> str | None:
    return next((name for name in options if getattr(config.option, attribute(name)) is not None), None)


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings, with the models of the ini file, else the bundled one. A `PumaError` names a mistake."""
    settings = config.stash.get(SETTINGS, None) or _read(config)
    if not settings.models:
        named = config.getini("puma_models")
        where = "puma_models" if named else "the default model"
        settings = replace(settings, models=models_of(config, named or [DEMONSTRATION], where=where))
    config.stash[SETTINGS] = settings
    return settings


def model_names(config: pytest.Config) -> tuple[str, ...]:
    """Return the names of the models; none if the settings are invalid, which is reported elsewhere."""
    from pytest_puma.core import PumaError

    try:
        return tuple(model.name for model in settings_of(config).models)
    except PumaError:
        return ()


def names_no_model(config: pytest.Config) -> bool:
    """Whether neither the command line nor the ini file names a model, so that the bundled one runs."""
    option = config.option
    return not option.puma_model and not option.puma_rescore and not config.getini("puma_models")


def _read(config: pytest.Config) -> Settings:
    from pytest_puma.baseline import Baselines
    from pytest_puma.planning.reports import JUNIT, parse_reports
    from pytest_puma.planning.rescoring import recorded_models
    from pytest_puma.planning.settings import Settings
    from pytest_puma.session.settings.registry import registry_of

    registry = registry_of(config)
    option = config.option
    scenarios = option_values.names("--puma-scenario", option.puma_scenario)
    for name in scenarios:
        registry.known_scenario(name, where="--puma-scenario")
    rescored = option_values.rescored(config)
    ini_gates = tuple(map(registry.gate, config.getini("puma_gates") or ()))
    return Settings(
        registry=registry,
        models=models_of(config, option.puma_model or (), where="--puma-model")
        if rescored is None
        else recorded_models(rescored),
        rescored=rescored,
        data=option_values.data(config, registry),
        scenarios=scenarios,
        command=_command_options(config, registry),
        ini=_ini_options(config, registry),
        gates=(*ini_gates, *map(registry.gate, option.puma_gate or ())),
        ini_gates=ini_gates,
        project=project_root(config),
        threads=option_values.threads(config),
        determinism=option_values.determinism(config),
        baselines=Baselines(option_values.ini_path(config, "puma_baselines", BASELINES)),
        shows_naive_baselines=config.getini("puma_naive_baselines") is not False,
        policy=option_values.policy(config),
        stop_early=option_values.stops_early(config),
        flips=bool(option.puma_flips or option.puma_only_flips),
        compare=axes(config),
        earlier=earlier_run(config),
        only=option_values.only(config),
        store=option_values.store(config),
        reports=parse_reports(option.puma_report or (), config.invocation_params.dir),
        page=option_values.page(config),
        junit=JUNIT in (option.puma_report or ()),
        keep_prompts=config.getini("puma_keep_prompts") is not False,
        keep_runs=option_values.keep_runs(config),
    )


def _command_options(config: pytest.Config, registry: Registry) -> RunOptions:
    option = config.option
    return option_values.run_options(
        "the command line",
        **{name: getattr(option, f"puma_{name}") for name in _RUN_OPTIONS},
        strategies=registry.strategy_names(option_values.names("--puma-strategy", option.puma_strategy)) or None,
        perturb=option_values.perturbations("--puma-perturb", option.puma_perturb, registry),
        subjects=option_values.names("--puma-subject", option.puma_subject) or None,
    )


def _ini_options(config: pytest.Config, registry: Registry) -> RunOptions:
    return option_values.run_options(
        "the ini file",
        **{name: config.getini(f"puma_{name}") for name in _RUN_OPTIONS},
        perturb=option_values.perturbations("puma_perturb", config.getini("puma_perturb"), registry),
        subjects=option_values.names("puma_subjects", config.getini("puma_subjects")) or None,
    )


def _ini(config: pytest.Config, key: str) -> object:
    try:
        return config.getini(key)
    except (ValueError, pytest.UsageError) as error:
        kind = INI[key][0]
        expected = kind if isinstance(kind, str) else "a whole number, or 'all'"
        msg = f"puma: ini key {key}: {error}; expected {expected}"
        raise pytest.UsageError(msg) from error
