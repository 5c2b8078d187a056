"""Values of single options and ini keys, checked; each error names the option.

An option on the command line wins over the ini key of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_puma.session.settings.project import project_root

if TYPE_CHECKING:
    from pytest_puma.core import Policy
    from pytest_puma.planning.reports import PageSettings
    from pytest_puma.planning.settings import Registry, RunOptions
    from pytest_puma.planning.storage import StoreSettings
    from pytest_puma.runs.recorded_run import RecordedRun

T = TypeVar("T")


def data(config: pytest.Config, registry: Registry) -> dict[str, Path]:
    """Return the files of `--puma-data` and of `puma_data`, by scenario."""
    from pytest_puma.core import SettingsError
    from pytest_puma.platform.user_path import user_path

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
                msg = f"{where} {entry!r}: {name} has a file already; expected one file per scenario"
                raise SettingsError(msg)
            named.add(name)
            is_file = not path.startswith("hf:")
            files[name] = base / user_path(path, where=f"{where} {entry!r}") if is_file else Path(path)
            if is_file and not files[name].exists():
                msg = f"{where} {entry!r}: found no file {files[name]}; expected a data file of {name}"
                raise SettingsError(msg)
    return files


def names(option: str, arguments: Iterable[str] | None) -> tuple[str, ...]:
    """Split `a,b` and repeated options into names; an empty name is an error."""
    parts = tuple(dict.fromkeys(name.strip() for argument in arguments or () for name in argument.split(",")))
    if "" in parts:
        from pytest_puma.core import SettingsError

        msg = f"{option} {', '.join(arguments or ())!r}: found an empty name; expected names separated by commas"
        raise SettingsError(msg)
    return parts


def perturbations(where: str, arguments: Iterable[str] | None, registry: Registry) -> tuple[str, ...] | None:
    """Return the names of perturbations; None if unset, unlike the argument `none`."""
    return None if arguments is None else registry.perturbation_names(names(where, arguments))


def run_options(where: str, **values: Any) -> RunOptions:
    """Return the run options of the command line or the ini file (`where`)."""
    from pytest_puma.core import SettingsError
    from pytest_puma.planning.settings import RunOptions

    try:
        return RunOptions(**values)
    except SettingsError as error:
        msg = f"{where}: {error}"
        raise SettingsError(msg) from error


def threads(config: pytest.Config) -> int | None:
    """Return the number of compute threads; None if unset."""
    from pytest_puma.core.model import MAX_THREADS
    from pytest_puma.errors import check_limits

    option: int | None = config.option.puma_threads
    threads: int | None = config.getini("puma_threads") if option is None else option
    check_limits({"puma_threads" if option is None else "--puma-threads": (threads, 1, MAX_THREADS)})
    return threads


def determinism(config: pytest.Config) -> int:
    """Return the number of samples to re-run alone."""
    from pytest_puma.errors import check_limits

    samples: int | None = config.option.puma_determinism
    check_limits({"--puma-determinism": (samples, 1, math.inf)})
    return samples or 0


def keep_runs(config: pytest.Config) -> int:
    """Return the number of runs whose predictions stay."""
    from pytest_puma.errors import check_limits
    from pytest_puma.planning.settings import DEFAULT_RUNS

    runs: int | None = config.getini("puma_keep_runs")
    check_limits({"ini key puma_keep_runs": (runs, 1, math.inf)})
    return DEFAULT_RUNS if runs is None else runs


def page(config: pytest.Config) -> PageSettings:
    """Return the settings of HTML reports."""
    from pytest_puma.errors import check_limits
    from pytest_puma.planning.reports import TEXTS, PageSettings

    megabytes: float | None = config.getini("puma_report_mb")
    check_limits({"ini key puma_report_mb": (megabytes, 1, math.inf)})
    texts = _one_of(config, "puma_report_texts", TEXTS)
    return PageSettings(texts=texts) if megabytes is None else PageSettings(megabytes=megabytes, texts=texts)


def only(config: pytest.Config) -> Mapping[str, frozenset[str]] | None:
    """Return the samples to run, by cell; None for all."""
    if not config.option.puma_only_flips:
        return None
    from pytest_puma.core import DataError, SettingsError
    from pytest_puma.runs.run_folder import last_flips

    try:
        return last_flips(project_root(config))
    except DataError as error:
        msg = f"--puma-only-flips: {error}"
        raise SettingsError(msg) from error


def rescored(config: pytest.Config) -> RecordedRun | None:
    """Return the run to rescore; None to compute answers. Workers get its folder, as `last` may change its meaning."""
    text: str | None = config.option.puma_rescore
    if text is None:
        return None
    from pytest_puma.core import DataError, SettingsError
    from pytest_puma.runs.recorded import find_recorded

    try:
        run = find_recorded(text, project_root(config), config.invocation_params.dir)
        config.option.puma_rescore = str(run.path.parent)
        _ = run.cells
    except (DataError, SettingsError) as error:
        msg = f"--puma-rescore {text!r}: {error}"
        raise SettingsError(msg) from error
    return run


def stops_early(config: pytest.Config) -> bool:
    """Whether a cell stops as soon as its gates are decided."""
    return bool(config.option.puma_stop_early or config.getini("puma_stop_early"))


def store(config: pytest.Config) -> StoreSettings:
    """Return the settings of the response store."""
    from pytest_puma.core import SettingsError
    from pytest_puma.planning.storage import MEGABYTES, MODES, RESPONSES, StoreSettings

    option: str | None = config.option.puma_store
    where = "ini key puma_store" if option is None else "--puma-store"
    text = config.getini("puma_store") or "mix" if option is None else option
    mode = next((mode for mode in MODES if mode == text), None)
    if mode is None:
        msg = f"{where}: found {text!r}; expected one of {', '.join(MODES)}"
        raise SettingsError(msg)
    megabytes: int | None = config.getini("puma_store_mb")
    return StoreSettings(
        mode=mode,
        path=ini_path(config, "puma_store_path", RESPONSES),
        megabytes=MEGABYTES if megabytes is None else megabytes,
        offline=bool(config.option.puma_offline),
    )


def ini_path(config: pytest.Config, key: str, default: str | Path) -> Path:
    """Return the path of an ini key, from the folder of the project."""
    from pytest_puma.platform.user_path import user_path

    return project_root(config) / user_path(config.getini(key) or str(default), where=f"ini key {key}")


def policy(config: pytest.Config) -> Policy:
    """Return the policy for undecided gates and missing baselines."""
    from pytest_puma.core import Policy
    from pytest_puma.core.gate import DOUBTS, MISSING

    return Policy(
        inconclusive=_one_of(config, "puma_inconclusive", DOUBTS),
        missing_baseline=_one_of(config, "puma_missing_baseline", MISSING),
        accepts=bool(config.option.puma_update_baseline),
    )


def _one_of(config: pytest.Config, key: str, values: tuple[T, ...]) -> T:
    """Return the value of an ini key, the first of `values` if it is unset."""
    from pytest_puma.core import SettingsError

    text = config.getini(key)
    for value in values:
        if text in {None, value}:
            return value
    msg = f"ini key {key}: found {text!r}; expected one of {', '.join(map(str, values))}"
    raise SettingsError(msg)
