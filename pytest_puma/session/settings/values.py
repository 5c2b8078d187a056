"""Values of options and ini keys as the records of `Settings`, checked; each error names the option.

An option on the command line wins over the ini key of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import Policy
from pytest_puma.core.gate import DOUBTS, MISSING
from pytest_puma.core.model import MAX_THREADS
from pytest_puma.errors import SettingsError, check_limits, naming
from pytest_puma.planning.marker import recorded_models
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.reports import JUNIT, TEXTS, PageSettings, Reports, parse_reports
from pytest_puma.planning.settings import BASELINES, Judging, Request, RunOptions
from pytest_puma.planning.storage import MODES, RESPONSES, Storage
from pytest_puma.platform.user_path import user_path
from pytest_puma.session.settings.compared import axes, earlier_run
from pytest_puma.session.settings.models import models_of
from pytest_puma.session.settings.options import names
from pytest_puma.session.settings.project import project_root

if TYPE_CHECKING:
    from pytest_puma.runs.recorded_run import RecordedRun

T = TypeVar("T")

#: Options that are fields of `RunOptions` and ini keys of the same name.
_RUN_OPTIONS = ("samples", "repeats", "seed", "max_tokens", "temperature")


def request_of(config: pytest.Config, registry: Registry, storage: Storage) -> Request:
    """Return what is asked of which models."""
    option = config.option
    scenarios = names("--puma-scenario", option.puma_scenario)
    for name in scenarios:
        registry.known_scenario(name, where="--puma-scenario")
    rescored = _rescored(config)
    check_limits({"--puma-determinism": (option.puma_determinism, 1, math.inf)})
    return Request(
        scenarios=scenarios,
        models=models_of(config, option.puma_model or (), where="--puma-model", store=storage.path)
        if rescored is None
        else recorded_models(rescored),
        data=_data(config, registry),
        command=_command_options(config, registry),
        ini=_ini_options(config, registry),
        threads=_threads(config),
        determinism=option.puma_determinism or 0,
        only=_only(config),
        rescored=rescored,
    )


def judging_of(config: pytest.Config, registry: Registry) -> Judging:
    """Return how cells are judged and compared."""
    option, getini = config.option, config.getini
    ini_gates = tuple(map(registry.gate, getini("puma_gates") or ()))
    return Judging(
        gates=(*ini_gates, *map(registry.gate, option.puma_gate or ())),
        ini_gates=ini_gates,
        policy=Policy(
            inconclusive=_one_of("ini key puma_inconclusive", getini("puma_inconclusive"), DOUBTS),
            missing_baseline=_one_of("ini key puma_missing_baseline", getini("puma_missing_baseline"), MISSING),
            accepts=bool(option.puma_update_baseline),
        ),
        stop_early=bool(option.puma_stop_early or getini("puma_stop_early")),
        flips=bool(option.puma_flips or option.puma_only_flips),
        compare=axes(config),
        earlier=earlier_run(config),
        baselines=Baselines(_ini_path(config, "puma_baselines", BASELINES)),
        shows_naive_baselines=getini("puma_naive_baselines") is not False,
    )


def storage_of(config: pytest.Config) -> Storage:
    """Return what the run keeps."""
    option, getini = config.option.puma_store, config.getini
    where, mode = ("ini key puma_store", getini("puma_store") or None) if option is None else ("--puma-store", option)
    sizes = {"megabytes": getini("puma_store_mb"), "runs": getini("puma_keep_runs")}
    return Storage(
        mode=_one_of(where, mode, MODES),
        path=_ini_path(config, "puma_store_path", str(RESPONSES)),
        offline=bool(config.option.puma_offline),
        prompts=getini("puma_keep_prompts") is not False,
        **{name: size for name, size in sizes.items() if size is not None},
    )


def reports_of(config: pytest.Config) -> Reports:
    """Return the files to write."""
    requested = config.option.puma_report or ()
    files = parse_reports(requested, config.invocation_params.dir)
    megabytes = config.getini("puma_report_mb")
    check_limits({"ini key puma_report_mb": (megabytes, 1, math.inf)})
    texts = _one_of("ini key puma_report_texts", config.getini("puma_report_texts"), TEXTS)
    page = PageSettings(texts=texts) if megabytes is None else PageSettings(megabytes=megabytes, texts=texts)
    return Reports(files=files, page=page, junit=JUNIT in requested)


def _command_options(config: pytest.Config, registry: Registry) -> RunOptions:
    option = config.option
    return _run_options(
        "the command line",
        **{name: getattr(option, f"puma_{name}") for name in _RUN_OPTIONS},
        strategies=registry.strategy_names(names("--puma-strategy", option.puma_strategy)) or None,
        perturb=_perturbations("--puma-perturb", option.puma_perturb, registry),
        subjects=names("--puma-subject", option.puma_subject) or None,
    )


def _ini_options(config: pytest.Config, registry: Registry) -> RunOptions:
    return _run_options(
        "the ini file",
        **{name: config.getini(f"puma_{name}") for name in _RUN_OPTIONS},
        perturb=_perturbations("puma_perturb", config.getini("puma_perturb"), registry),
        subjects=names("puma_subjects", config.getini("puma_subjects")) or None,
    )


def _run_options(where: str, **values: Any) -> RunOptions:
    with naming(where):
        return RunOptions(**values)


def _perturbations(where: str, arguments: Iterable[str] | None, registry: Registry) -> tuple[str, ...] | None:
    """Return the names of perturbations; None if unset, unlike the argument `none`."""
    return None if arguments is None else registry.perturbation_names(names(where, arguments))


def _data(config: pytest.Config, registry: Registry) -> dict[str, Path]:
    """Return the files of `--puma-data` and of `puma_data`, by scenario."""
    files: dict[str, Path] = {}
    sources = [
        ("puma_data", config.getini("puma_data"), project_root(config)),
        ("--puma-data", config.option.puma_data, config.invocation_params.dir),
    ]
    for where, entries, folder in sources:
        named: set[str] = set()
        for entry in entries or ():
            name, _, path = entry.partition("=")
            if not path:
                msg = f"{where} {entry!r}: expected SCENARIO=PATH, as in triage_jira=issues.csv"
                raise SettingsError(msg)
            registry.known_scenario(name, where=where)
            if name in named:
                msg = f"{where} {entry!r}: {name} has a file already; expected one file per scenario"
                raise SettingsError(msg)
            named.add(name)
            is_file = not path.startswith("hf:")
            files[name] = folder / user_path(path, where=f"{where} {entry!r}") if is_file else Path(path)
            if is_file and not files[name].exists():
                msg = f"{where} {entry!r}: found no file {files[name]}; expected a data file of {name}"
                raise SettingsError(msg)
    return files


def _threads(config: pytest.Config) -> int | None:
    """Return the number of compute threads; None if unset."""
    option: int | None = config.option.puma_threads
    threads: int | None = config.getini("puma_threads") if option is None else option
    check_limits({"puma_threads" if option is None else "--puma-threads": (threads, 1, MAX_THREADS)})
    return threads


def _only(config: pytest.Config) -> Mapping[str, frozenset[str]] | None:
    """Return the samples to run, by cell; None for all."""
    if not config.option.puma_only_flips:
        return None
    from pytest_puma.runs.past_run import last_flips

    with naming("--puma-only-flips"):
        return last_flips(project_root(config))


def _rescored(config: pytest.Config) -> RecordedRun | None:
    """Return the run to rescore; None to compute answers. Workers get its folder, as `last` may change its meaning."""
    text: str | None = config.option.puma_rescore
    if text is None:
        return None
    from pytest_puma.runs.recorded_run import find_recorded

    with naming(f"--puma-rescore {text!r}"):
        run = find_recorded(text, project_root(config), config.invocation_params.dir)
        config.option.puma_rescore = str(run.path.parent)
        _ = run.cells
    return run


def _ini_path(config: pytest.Config, key: str, default: str) -> Path:
    """Return the path of an ini key, from the folder of the project."""
    return project_root(config) / user_path(config.getini(key) or default, where=f"ini key {key}")


def _one_of(where: str, text: str | None, values: tuple[T, ...]) -> T:
    """Return the value that a text means, the first one if it is unset."""
    for value in values:
        if text in {None, value}:
            return value
    msg = f"{where}: found {text!r}; expected one of {', '.join(map(str, values))}"
    raise SettingsError(msg)
