"""Values of options and ini keys as the records of `Settings`, checked; each error names the option.

An option on the command line wins over the ini key of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import Model, Policy
from pytest_puma.core.gate import DOUBTS, MISSING
from pytest_puma.core.model import MAX_THREADS
from pytest_puma.errors import SettingsError, check_limits, naming
from pytest_puma.models.resolve import resolve_models
from pytest_puma.models.search import default_directories
from pytest_puma.models.server import refuse_servers
from pytest_puma.planning.marker import recorded_models
from pytest_puma.planning.offline import offline_models
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.reports import JUNIT, TEXTS, PageSettings, Reports, parse_reports
from pytest_puma.planning.settings import BASELINES, Judging, Request, RunOptions
from pytest_puma.planning.shards import Shard
from pytest_puma.planning.storage import MODES, RESPONSES, Storage
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.platform.files import obstacle
from pytest_puma.platform.user_path import user_path
from pytest_puma.responses.answer_file import check_answers, read_answers
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.verdict_source import read_verdicts
from pytest_puma.session.settings.cluster import look_up
from pytest_puma.session.settings.earlier_runs import compared, flipped, older, rescored
from pytest_puma.session.settings.options import OptionSource, stated
from pytest_puma.session.settings.project import project_root
from pytest_puma.session.settings.registry import with_own_variants

#: How to run what a model wrote.
RUN_CODE = ("off", "sandbox", "unconfined")
T = TypeVar("T")

#: The values of `puma_judge_agreement`.
AGREEMENTS = (REMARKED, REQUIRED) = ("remarked", "required")
#: Options that are fields of `RunOptions`.
_RUN_OPTIONS = ("samples", "repeats", "retries", "prompt_suffix", "seed", "max_tokens", "temperature")


def request_of(config: pytest.Config, registry: Registry, storage: Storage) -> Request:
    """Return what is asked of which models."""
    command, ini = OptionSource(config), OptionSource(config, is_ini=True)
    scenarios = command.names("--puma-scenario")
    for name in scenarios:
        registry.known_scenario(name, where="--puma-scenario")
    run = rescored(config)
    where, threads = stated(config, "--puma-threads")
    determinism, shard = config.option.puma_determinism, config.option.puma_shard
    find_judges = cache(partial(_judges, config, storage))
    if arguments := command.value("--puma-judge"):
        find_judges(tuple(arguments))
    check_limits({"--puma-determinism": (determinism, 1, math.inf), where: (threads, 1, MAX_THREADS)})
    models = models_of(config, command, storage) if run is None else recorded_models(run)
    if determinism:
        refuse_servers(models, "--puma-determinism")
    return Request(
        scenarios=scenarios,
        models=models,
        data=_data(config),
        command=_run_options(command, registry),
        ini=_run_options(ini, registry),
        threads=threads,
        run_code=_one_of("--puma-run-code", config.option.puma_run_code, RUN_CODE),
        energy=bool(stated(config, "--puma-energy")[1]),
        grid=config.getini("puma_grid_g_per_kwh") or 0.0,
        determinism=determinism or 0,
        only=flipped(config),
        shard=None if shard is None else Shard.parse(shard, keeps=storage.mode != "off"),
        rescored=run,
        find_judges=find_judges,
    )


def judging_of(config: pytest.Config, registry: Registry) -> Judging:
    """Return how cells are judged and compared."""
    option, getini = config.option, config.getini
    ini_gates = tuple(map(registry.gate, getini("puma_gates") or ()))
    axes, runs = compared(config)
    baselines = _ini_path(config, "puma_baselines", BASELINES)
    # Before anything is computed.
    if option.puma_update_baseline and (reason := obstacle(baselines / "any.json")):
        msg = f"--puma-update-baseline: {reason}; expected a folder in which files can be written"
        raise SettingsError(msg)
    return Judging(
        gates=(*ini_gates, *map(registry.gate, option.puma_gate or ())),
        ini_gates=ini_gates,
        policy=Policy(
            inconclusive=_one_of("ini key puma_inconclusive", getini("puma_inconclusive"), DOUBTS),
            missing_baseline=_one_of("ini key puma_missing_baseline", getini("puma_missing_baseline"), MISSING),
            accepts=bool(option.puma_update_baseline),
        ),
        stop_early=bool(stated(config, "--puma-stop-early")[1]),
        flips=bool(option.puma_flips or option.puma_only_flips),
        compare=axes,
        earlier=older(config, runs),
        baselines=Baselines(baselines),
        shows_naive_baselines=getini("puma_naive_baselines") is not False,
        needs_agreement=_one_of("ini key puma_judge_agreement", getini("puma_judge_agreement"), AGREEMENTS) == REQUIRED,
    )


def storage_of(config: pytest.Config) -> Storage:
    """Return what the run keeps."""
    getini = config.getini
    where, mode = stated(config, "--puma-store")
    sizes = {"megabytes": getini("puma_store_mb"), "runs": getini("puma_keep_runs")}
    return Storage(
        mode=_one_of(where, mode or None, MODES),
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


def models_of(config: pytest.Config, source: OptionSource, storage: Storage, default: str = "") -> tuple[Model, ...]:
    """Resolve the models that a source names, else the default one if there is one."""
    arguments, where = source.value("--puma-model"), source.name("--puma-model")
    if not arguments:
        if not default:
            return ()
        arguments, where = [default], "the default model"
    return with_own_variants(config, _models(config, storage, arguments, where=where))


def _judges(config: pytest.Config, storage: Storage, arguments: tuple[str, ...]) -> tuple[Model, ...]:
    """Resolve judges, wherever they are named."""
    return _models(config, storage, arguments, where="the judge", read=read_verdicts)


def _models(
    config: pytest.Config,
    storage: Storage,
    arguments: Sequence[str],
    *,
    where: str,
    read: Callable[[Model], object] = read_answers,
) -> tuple[Model, ...]:
    if config.option.puma_offline:
        with closing(ResponseStore(storage.path, readonly=True)) as store:
            models = offline_models(arguments, store, where=where, directories=_directories(config))
    else:
        models = resolve_models(arguments, directories=_directories(config), where=where, look_up=look_up(config))
        check_answers(models, read, where=where)
    is_strict = stated(config, "--puma-strict")[1]
    if is_strict:
        refuse_servers(models, "--puma-strict")
    return tuple(_strict(model) if is_strict and model.source != "answers" else model for model in models)


def _directories(config: pytest.Config) -> list[Path]:
    """Return the directories to search for models."""
    root = project_root(config)
    folders = [_expanded(path, root) for path in config.getini("puma_model_dirs") or ()]
    return [*(folders or default_directories(root)), bundled_folder("models")]


def _expanded(folder: Path, root: Path) -> Path:
    """Return a folder of `puma_model_dirs` with the home for `~`, before which pytest has put that of the ini file."""
    text = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return root / user_path(str(text), where="ini key puma_model_dirs")


def _strict(model: Model) -> Model:
    with naming(model.name):
        return replace(model, options=replace(model.options, strict=True))


def _run_options(source: OptionSource, registry: Registry) -> RunOptions:
    strategies = registry.strategy_names(source.names("--puma-strategy"))
    subjects, perturb = source.names("--puma-subject"), None
    # The argument `none` is no name, but other than an unset option.
    if source.value("--puma-perturb") is not None:
        perturb = registry.perturbation_names(source.names("--puma-perturb"))
    with naming("the ini file" if source.is_ini else "the command line"):
        return RunOptions(
            **{name: source.value(f"--puma-{name.replace('_', '-')}") for name in _RUN_OPTIONS},
            strategies=strategies or None,
            judge=tuple(source.value("--puma-judge") or ()) or None,
            perturb=perturb,
            subjects=subjects or None,
        )


def _data(config: pytest.Config) -> dict[str, Path]:
    """Return the files of `--puma-data` and of `puma_data` by scenario, which may be one of a test file."""
    files: dict[str, Path] = {}
    folders = {
        OptionSource(config, is_ini=True): project_root(config),
        OptionSource(config): config.invocation_params.dir,
    }
    for source, folder in folders.items():
        named: set[str] = set()
        for entry in source.value("--puma-data") or ():
            where = f"{source.name('--puma-data')} {entry!r}"
            name, _, path = entry.partition("=")
            if not path:
                msg = f"{where}: expected SCENARIO=PATH, as in triage_jira=issues.csv"
                raise SettingsError(msg)
            if name in named:
                msg = f"{where}: {name} has a file already; expected one file per scenario"
                raise SettingsError(msg)
            named.add(name)
            is_file = not path.startswith("hf:")
            files[name] = folder / user_path(path, where=where) if is_file else Path(path)
            if is_file and not files[name].exists():
                msg = f"{where}: found no file {files[name]}; expected a data file of {name}"
                raise SettingsError(msg)
    return files


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
