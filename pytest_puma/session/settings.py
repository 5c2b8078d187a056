"""The command line and the ini file, read once into `Settings`; the command line wins.

Whatever is wrong on the command line is told in `pytest_configure`, before anything is collected or loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_puma.session.options import INI, is_asked
from pytest_puma.session.project import check_root, project_root
from pytest_puma.session.selection import is_selected

if TYPE_CHECKING:
    from pytest_puma.asked import Choices, Registry, Settings
    from pytest_puma.core import Model, Policy

T = TypeVar("T")

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
#: What runs when nobody names a model.
DEMONSTRATION = "puma-tiny"
#: Where the baselines lie in a project that does not say so.
BASELINES = "benchmarks/baselines"
#: Options that are fields of `Choices` and ini keys of the same name.
_CHOSEN = ("samples", "seed", "max_tokens", "temperature")


def check_command_line(config: pytest.Config) -> None:
    """Read everything that the user said; a `UsageError` for what cannot be obeyed."""
    said = is_asked(config)
    # Read even if unused: a value of the wrong type shows only here.
    said |= any([_ini(config, name) is not None for name in INI])  # noqa: C419
    if said:
        check_root(config)
        if config.option.puma_prune_baseline and is_selected(config):
            msg = (
                "puma: --puma-prune-baseline: only a part of the tests was asked for; "
                "expected all of them, so that it shows which are gone"
            )
            raise pytest.UsageError(msg)
        _check_whole(config)
        from pytest_puma.core import PumaError

        try:
            config.stash[SETTINGS] = _read(config)
        except PumaError as error:
            msg = f"puma: {error}"
            raise pytest.UsageError(msg) from error


def _check_whole(config: pytest.Config) -> None:
    """Baselines are made of all samples."""
    parts = {"--puma-stop-early": _stops_early(config), "--puma-only-flips": config.option.puma_only_flips}
    asked = [name for name, said in parts.items() if said]
    if config.option.puma_update_baseline and asked:
        msg = (
            f"puma: --puma-update-baseline and {asked[0]}: a baseline needs all samples of its cells; "
            "expected one of the two"
        )
        raise pytest.UsageError(msg)


def settings_of(config: pytest.Config) -> Settings:
    """The settings, with the models of the ini file, else the bundled one. A `PumaError` says what is wrong."""
    settings = config.stash.get(SETTINGS, None) or _read(config)
    if not settings.models:
        named = config.getini("puma_models")
        where = "puma_models" if named else "the model for want of another"
        settings = replace(settings, models=_models(config, named or [DEMONSTRATION], where=where))
    config.stash[SETTINGS] = settings
    return settings


def model_names(config: pytest.Config) -> tuple[str, ...]:
    """Those of the models that will run; none where the settings cannot be read, which is told elsewhere."""
    from pytest_puma.core import PumaError

    try:
        return tuple(model.name for model in settings_of(config).models)
    except PumaError:
        return ()


def names_no_model(config: pytest.Config) -> bool:
    """Whether neither the command line nor the ini file names one, so that the bundled model runs."""
    return not config.option.puma_model and not config.getini("puma_models")


def _read(config: pytest.Config) -> Settings:
    from pytest_puma.asked import Settings
    from pytest_puma.baseline import Baselines
    from pytest_puma.report.emit import JUNIT, parse_reports
    from pytest_puma.session.registry import registry_of

    registry = registry_of(config)
    option = config.option
    scenarios = _names("--puma-scenario", option.puma_scenario)
    for name in scenarios:
        registry.known_scenario(name, where="--puma-scenario")
    strategies = registry.strategy_names(_names("--puma-strategy", option.puma_strategy)) or None
    return Settings(
        registry=registry,
        models=_models(config, option.puma_model or (), where="--puma-model"),
        data=_data(config, registry),
        scenarios=scenarios,
        command=_choices(
            "the command line",
            **{name: getattr(option, f"puma_{name}") for name in _CHOSEN},
            strategies=strategies,
            perturb=_perturbations("--puma-perturb", option.puma_perturb, registry),
        ),
        ini=_choices(
            "the ini file",
            **{name: config.getini(f"puma_{name}") for name in _CHOSEN},
            perturb=_perturbations("puma_perturb", config.getini("puma_perturb"), registry),
        ),
        gates=tuple(map(registry.gate, [*(config.getini("puma_gates") or ()), *(option.puma_gate or ())])),
        project=project_root(config),
        threads=_threads(config),
        determinism=_determinism(config),
        baselines=Baselines(project_root(config) / (config.getini("puma_baselines") or BASELINES)),
        shows_references=config.getini("puma_references") is not False,
        policy=_policy(config),
        stop_early=_stops_early(config),
        flips=bool(option.puma_flips or option.puma_only_flips),
        compare=_axes(config),
        only=_only(config),
        reports=parse_reports(option.puma_report or (), config.invocation_params.dir),
        junit=JUNIT in (option.puma_report or ()),
    )


def _ini(config: pytest.Config, key: str) -> object:
    try:
        return config.getini(key)
    except (ValueError, pytest.UsageError) as error:
        msg = f"puma: ini key {key}: {error}; expected {INI[key][0]}"
        raise pytest.UsageError(msg) from error


def _models(config: pytest.Config, said: Iterable[str], *, where: str) -> tuple[Model, ...]:
    said = list(said)
    if not said:
        return ()
    from pytest_puma.core.bundled import bundled_folder
    from pytest_puma.models import default_directories, resolve_models

    directories = config.getini("puma_model_dirs") or default_directories(project_root(config))
    models = resolve_models(said, directories=[*directories, bundled_folder("models")], where=where)
    return tuple(map(_strict, models)) if config.option.puma_strict or config.getini("puma_strict") else models


def _strict(model: Model) -> Model:
    from pytest_puma.core import SettingsError

    try:
        return replace(model, options=replace(model.options, strict=True))
    except SettingsError as error:
        msg = f"{model.name}: {error}"
        raise SettingsError(msg) from error


def _data(config: pytest.Config, registry: Registry) -> dict[str, Path]:
    from pytest_puma.core import SettingsError

    data: dict[str, Path] = {}
    places = [
        ("puma_data", config.getini("puma_data") or (), project_root(config)),
        ("--puma-data", config.option.puma_data or (), config.invocation_params.dir),
    ]
    for where, entries, base in places:
        named: set[str] = set()
        for entry in entries:
            name, equals, path = entry.partition("=")
            if not equals or not path:
                msg = f"{where} {entry!r}: expected SCENARIO=PATH, as in triage_jira=issues.csv"
                raise SettingsError(msg)
            registry.known_scenario(name, where=where)
            if name in named:
                msg = f"{where} {entry!r}: {name} has a file already; expected one a scenario"
                raise SettingsError(msg)
            named.add(name)
            data[name] = base / Path(path).expanduser()
            if not data[name].is_file():
                msg = f"{where} {entry!r}: no such file: {data[name]}"
                raise SettingsError(msg)
    return data


def _names(option: str, said: Iterable[str] | None) -> tuple[str, ...]:
    """`a,b` and repeated options alike; an empty name is an error, not a choice of nothing."""
    names = tuple(dict.fromkeys(name.strip() for entry in said or () for name in entry.split(",")))
    if "" in names:
        from pytest_puma.core import SettingsError

        msg = f"{option} {', '.join(said or ())!r}: found an empty name; expected names separated by commas"
        raise SettingsError(msg)
    return names


def _perturbations(where: str, said: Iterable[str] | None, registry: Registry) -> tuple[str, ...] | None:
    """None where nothing is said, which is not `none`."""
    return None if said is None else registry.perturbation_names(_names(where, said))


def _choices(where: str, **said: Any) -> Choices:
    from pytest_puma.asked import Choices
    from pytest_puma.core import SettingsError

    try:
        return Choices(**said)
    except SettingsError as error:
        msg = f"{where}: {error}"
        raise SettingsError(msg) from error


def _threads(config: pytest.Config) -> int | None:
    from pytest_puma.core.cell import MOST_THREADS
    from pytest_puma.core.errors import check_limits

    said: int | None = config.option.puma_threads
    threads: int | None = config.getini("puma_threads") if said is None else said
    check_limits({"--puma-threads" if said is not None else "puma_threads": (threads, 1, MOST_THREADS)})
    return threads


def _determinism(config: pytest.Config) -> int:
    from pytest_puma.core.errors import check_limits

    said: int | None = config.option.puma_determinism
    check_limits({"--puma-determinism": (said, 1, math.inf)})
    return said or 0


def _axes(config: pytest.Config) -> tuple[str, ...]:
    from pytest_puma.compare import AXES
    from pytest_puma.core import SettingsError

    said = _names("--puma-compare", config.option.puma_compare or config.getini("puma_compare"))
    for name in said:
        if name not in AXES:
            msg = f"--puma-compare {name!r}: expected one of {', '.join(AXES)}"
            raise SettingsError(msg)
    return said


def _only(config: pytest.Config) -> Mapping[str, frozenset[str]] | None:
    """The samples to ask, by cell, where not all are."""
    if not config.option.puma_only_flips:
        return None
    from pytest_puma.core import DataError, SettingsError
    from pytest_puma.report.folder import last_flips

    try:
        return last_flips(project_root(config))
    except DataError as error:
        msg = f"--puma-only-flips: {error}"
        raise SettingsError(msg) from error


def _stops_early(config: pytest.Config) -> bool:
    return bool(config.option.puma_stop_early or config.getini("puma_stop_early"))


def _policy(config: pytest.Config) -> Policy:
    from pytest_puma.core import Policy
    from pytest_puma.core.verdict import DOUBTS, MISSING

    return Policy(
        inconclusive=_one_of(config, "puma_inconclusive", DOUBTS),
        missing_baseline=_one_of(config, "puma_missing_baseline", MISSING),
        accepts=bool(config.option.puma_update_baseline),
    )


def _one_of(config: pytest.Config, key: str, known: tuple[T, ...]) -> T:
    """What an ini key says, the first of the values where it says nothing."""
    from pytest_puma.core import SettingsError

    said = config.getini(key)
    for value in known:
        if said in {None, value}:
            return value
    msg = f"ini key {key}: found {said!r}; expected one of {', '.join(map(str, known))}"
    raise SettingsError(msg)
