"""What each option says: read by itself, with an error that names the option.

An option of the command line wins over the ini key of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_puma.session.project import project_root

if TYPE_CHECKING:
    from pytest_puma.core import Model, Policy
    from pytest_puma.planning.settings import Registry, RunOptions

T = TypeVar("T")


def models(config: pytest.Config, said: Iterable[str], *, where: str) -> tuple[Model, ...]:
    """The models that were said; none where none was."""
    said = list(said)
    if not said:
        return ()
    from pytest_puma.core.bundled import bundled_folder
    from pytest_puma.models import default_directories, resolve_models

    directories = config.getini("puma_model_dirs") or default_directories(project_root(config))
    found = resolve_models(said, directories=[*directories, bundled_folder("models")], where=where)
    return tuple(map(_strict, found)) if config.option.puma_strict or config.getini("puma_strict") else found


def _strict(model: Model) -> Model:
    from pytest_puma.core import SettingsError

    try:
        return replace(model, options=replace(model.options, strict=True))
    except SettingsError as error:
        msg = f"{model.name}: {error}"
        raise SettingsError(msg) from error


def data(config: pytest.Config, registry: Registry) -> dict[str, Path]:
    """The files of `--puma-data` and of the ini key, by scenario."""
    from pytest_puma.core import SettingsError

    files: dict[str, Path] = {}
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
            files[name] = base / Path(path).expanduser()
            if not files[name].is_file():
                msg = f"{where} {entry!r}: no such file: {files[name]}"
                raise SettingsError(msg)
    return files


def names(option: str, said: Iterable[str] | None) -> tuple[str, ...]:
    """`a,b` and repeated options alike; an empty name is an error, not a choice of nothing."""
    found = tuple(dict.fromkeys(name.strip() for entry in said or () for name in entry.split(",")))
    if "" in found:
        from pytest_puma.core import SettingsError

        msg = f"{option} {', '.join(said or ())!r}: found an empty name; expected names separated by commas"
        raise SettingsError(msg)
    return found


def perturbations(where: str, said: Iterable[str] | None, registry: Registry) -> tuple[str, ...] | None:
    """None where nothing is said, which is not `none`."""
    return None if said is None else registry.perturbation_names(names(where, said))


def choices(where: str, **said: Any) -> RunOptions:
    """What the command line or the ini file (`where`) chooses."""
    from pytest_puma.core import SettingsError
    from pytest_puma.planning.settings import RunOptions

    try:
        return RunOptions(**said)
    except SettingsError as error:
        msg = f"{where}: {error}"
        raise SettingsError(msg) from error


def threads(config: pytest.Config) -> int | None:
    """Threads that compute; None where nothing is said."""
    from pytest_puma.core.errors import check_limits
    from pytest_puma.core.model import MAX_THREADS

    said: int | None = config.option.puma_threads
    threads: int | None = config.getini("puma_threads") if said is None else said
    check_limits({"--puma-threads" if said is not None else "puma_threads": (threads, 1, MAX_THREADS)})
    return threads


def determinism(config: pytest.Config) -> int:
    """How many samples are asked once more, alone."""
    from pytest_puma.core.errors import check_limits

    said: int | None = config.option.puma_determinism
    check_limits({"--puma-determinism": (said, 1, math.inf)})
    return said or 0


def axes(config: pytest.Config) -> tuple[str, ...]:
    """What `--puma-compare` compares."""
    from pytest_puma.analysis.contrasts import AXES
    from pytest_puma.core import SettingsError

    said = names("--puma-compare", config.option.puma_compare or config.getini("puma_compare"))
    for name in said:
        if name not in AXES:
            msg = f"--puma-compare {name!r}: expected one of {', '.join(AXES)}"
            raise SettingsError(msg)
    return said


def only(config: pytest.Config) -> Mapping[str, frozenset[str]] | None:
    """The samples to ask, by cell, where not all are."""
    if not config.option.puma_only_flips:
        return None
    from pytest_puma.core import DataError, SettingsError
    from pytest_puma.store.run_folder import last_flips

    try:
        return last_flips(project_root(config))
    except DataError as error:
        msg = f"--puma-only-flips: {error}"
        raise SettingsError(msg) from error


def stops_early(config: pytest.Config) -> bool:
    """Whether a cell ends as soon as its gates are decided."""
    return bool(config.option.puma_stop_early or config.getini("puma_stop_early"))


def policy(config: pytest.Config) -> Policy:
    """What becomes of doubt and of missing baselines."""
    from pytest_puma.core import Policy
    from pytest_puma.core.gate import DOUBTS
    from pytest_puma.core.verdict import MISSING

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
