"""Benchmarks under pytest-xdist: the number of workers for `-n auto`, and the share of each worker.

One process uses all cores, or a GPU, fully. A second process on the same device would load the model again without any
gain. So `-n auto` starts one worker for each GPU, else one, and the cells of a model stay on one worker.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.settings.config import known_models, settings_of
from pytest_puma.session.settings.options import has_options
from pytest_puma.session.settings.run_id import add_run_id

if TYPE_CHECKING:
    from pytest_puma.engine.machine import Gpu, Share

#: Key of the worker input: whether the cells of a model stay on one worker.
_TOGETHER = "puma_together"


def auto_workers(config: pytest.Config) -> int | None:
    """Return the workers for `-n auto`.

    None leaves the number to xdist: if no benchmarks run, if the environment sets it, or if all answers are read.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not is_benchmark_run(config):
        return None
    known = known_models(config)
    models = [model for model in known if model.computes]
    if not models:
        return None if known else 1
    from pytest_puma.engine.machine import useful_workers

    devices = found_gpus()
    return useful_workers(devices, max(model.size for model in models)) if devices else 1


def is_benchmark_run(config: pytest.Config) -> bool:
    """Whether the command line has an option of pytest-puma, or names only benchmarks."""
    paths = [config.invocation_params.dir / path.partition("::")[0] for path in config.known_args_namespace.file_or_dir]
    return has_options(config) or (bool(paths) and all(map(_has_only_benchmarks, paths)))


def header(config: pytest.Config) -> str | None:
    """Return a header line with the number of workers and its reason."""
    workers = len(getattr(config.option, "tx", None) or ())
    if not workers or hasattr(config, "workerinput") or not is_benchmark_run(config):
        return None
    if not computes(config):
        return f"puma: {workers} workers; no model is loaded"
    if config.known_args_namespace.numprocesses not in {"auto", "logical"}:
        where = "the cells of a model on one of them" if together(config) else f"--dist {config.option.dist}"
        return f"puma: {workers} workers as requested, {where}"
    if workers > 1:
        return f"puma: {workers} workers, one for each GPU that the model fits on"
    return "puma: 1 worker with all cores; more processes would share them and load the model again"


def computes(config: pytest.Config) -> bool:
    """Whether a model computes its answers. True if the models are unknown, which is reported elsewhere."""
    models = known_models(config)
    return not models or any(model.computes for model in models)


def add_worker_input(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Add the input from which a worker computes its share."""
    workerinput[_TOGETHER] = together(config)
    add_run_id(config, workerinput)


def own_share(config: pytest.Config) -> Share:
    """Return the share of this process: all, or a part as one of several workers."""
    from pytest_puma.engine.machine import Share, cores, share_of

    worker = getattr(config, "workerinput", None)
    if worker is None or worker["workercount"] == 1:
        return Share(threads=cores())
    return share_of(
        int(worker["workerid"].removeprefix("gw")),
        workers=worker["workercount"],
        models=sum(model.computes for model in settings_of(config).request.models),
        cores=cores(),
        gpus=len(found_gpus()),
        together=worker.get(_TOGETHER, False),
    )


def found_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs; none with a llama.cpp that cannot be loaded, which the first item of the run reports."""
    from pytest_puma.core import EngineError

    try:
        from pytest_puma.engine.native import gpus

        return gpus()
    except EngineError:
        return ()


def together(config: pytest.Config) -> bool:
    """Whether the cells of a model stay on one worker: with the default `--dist`."""
    # With workers, xdist changes "no" into "load"; the known arguments keep the original value.
    return bool(config.option.dist == "load" and config.known_args_namespace.dist == "no")


def _has_only_benchmarks(path: Path) -> bool:
    """Whether a path is a run-spec, a test file with our marker, or a folder with such files only."""
    if path.suffix in {".yaml", ".yml"}:
        return True
    files = [path] if path.is_file() else [*path.rglob("test_*.py"), *path.rglob("*_test.py")]
    try:
        return bool(files) and all("mark.puma(" in file.read_text(encoding="utf-8", errors="replace") for file in files)
    except OSError:  # pytest reports the file
        return False
