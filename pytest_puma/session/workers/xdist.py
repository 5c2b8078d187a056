"""Benchmarks under pytest-xdist: the number of workers for `-n auto`, their input and share, and how one ended.

One process uses all cores, or a GPU, fully. A second process on the same device would load the model again without any
gain. So `-n auto` starts one worker for each GPU, else one, and the cells of a model stay on one worker.
"""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.errors import EngineError
from pytest_puma.phrases import counted
from pytest_puma.session.settings.cluster import INPUT, cluster_of
from pytest_puma.session.settings.config import known_models, settings_of
from pytest_puma.session.settings.options import has_options

if TYPE_CHECKING:
    from pytest_puma.engine.machine import Gpu, Share

#: Keys of the worker input: whether the cells of a model stay on one worker, and the name and the start of the run.
_TOGETHER, _RUN = "puma_together", "puma_run"
_STARTED: pytest.StashKey[tuple[str, datetime]] = pytest.StashKey()
_MEMORY = (
    "puma: this is how the system ends a process if memory is short; run fewer workers (-n), give the model a smaller "
    "cache (--puma-model FILE.gguf,n_ctx=4096), or run a smaller model"
)
#: Seconds until a process whose pipes are closed has an exit status.
_WAIT = 5.0


def auto_workers(config: pytest.Config) -> int | None:
    """Return the workers for `-n auto`.

    None leaves the number to xdist: if no benchmarks run, if the environment sets it, or if all answers are read.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not is_benchmark_run(config):
        return None
    known = known_models(config)
    if any(model.source == "cluster" for model in known):
        # A server has one client at a time.
        return 1 if any(model.options.rpc for model in known) else len(cluster_of(config).addresses())
    models = [model for model in known if model.computes]
    if not models:
        return None if known and all(model.is_read for model in known) else 1
    from pytest_puma.engine.machine import useful_workers

    devices = found_gpus()
    if not devices or any(model.options.chooses_gpus for model in models):
        return 1
    return useful_workers(devices, max(model.size for model in models))


def is_benchmark_run(config: pytest.Config) -> bool:
    """Whether the command line has an option of pytest-puma, or names only benchmarks."""
    paths = [config.invocation_params.dir / path.partition("::")[0] for path in config.known_args_namespace.file_or_dir]
    return has_options(config) or (bool(paths) and all(map(_has_only_benchmarks, paths)))


def header(config: pytest.Config) -> str | None:
    """Return a header line with the number of workers and its reason; None for other runs."""
    workers = len(config.option.tx)
    if hasattr(config, "workerinput") or not is_benchmark_run(config):
        return None
    # If the models are unknown, another error is shown.
    models = known_models(config)
    if any(model.source == "cluster" for model in models):
        return f"puma: {counted(workers, 'worker')}; the cluster has {len(cluster_of(config).addresses())}"
    if models and not any(model.computes for model in models):
        return f"puma: {workers} workers; no model is loaded"
    if config.known_args_namespace.numprocesses not in {"auto", "logical"}:
        where = "the cells of a model on one of them" if together(config) else f"--dist {config.option.dist}"
        return f"puma: {workers} workers as requested, {where}"
    if workers > 1:
        return f"puma: {workers} workers, one for each GPU that the model fits on"
    return "puma: 1 worker with all cores; more processes would share them and load the model again"


def add_worker_input(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Add the input of a worker: from what it computes its share, and the run that it belongs to."""
    name, started = run_id(config)
    workerinput |= {_TOGETHER: together(config), _RUN: [name, started.isoformat()]}
    if config.option.puma_cluster:
        workerinput[INPUT] = cluster_of(config).address


def run_id(config: pytest.Config) -> tuple[str, datetime]:
    """Return the name of the run, which its folder has too, and its start: the same in all processes of the run."""
    if _STARTED not in config.stash:
        name, text = getattr(config, "workerinput", {}).get(_RUN, ("", ""))
        started = datetime.fromisoformat(text) if text else datetime.now(timezone.utc)
        config.stash[_STARTED] = name or f"{started:%Y%m%dT%H%M%S}-{os.getpid()}", started
    return config.stash[_STARTED]


def own_share(config: pytest.Config) -> Share:
    """Return the share of this process: all, or a part as one of several workers."""
    from pytest_puma.engine.machine import Share, cores, share_of

    worker = getattr(config, "workerinput", None)
    if worker is None or worker["workercount"] == 1:
        return Share(threads=cores())
    return share_of(
        int(worker["workerid"].removeprefix("gw")),
        workers=worker["workercount"],
        models=len({model.loaded for model in settings_of(config).request.models if model.computes}),
        cores=cores(),
        gpus=len(found_gpus()),
        together=worker.get(_TOGETHER, False),
    )


def found_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs; none with a llama.cpp that cannot be loaded, which the first item of the run reports."""
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


def end_of(worker: Any) -> str:
    """Return `ended by SIGKILL` or `exit status 3` of a worker's process; empty if it is not a process of this one."""
    from pytest_puma.platform.processes import signal_name

    process = getattr(getattr(worker.gateway, "_io", None), "popen", None)
    if not isinstance(process, subprocess.Popen):
        return ""
    try:
        status = process.wait(_WAIT)
    except subprocess.TimeoutExpired:
        return ""
    return f"ended by {signal_name(-status)}" if status < 0 else f"exit status {status}"


def explained(message: str, end: str, *, computed: bool) -> str:
    """Return xdist's message on a crash with the end of the process, and with sentences on the cell."""
    cell = "the answers of this cell were complete and are kept" if computed else "this cell has no result"
    lines = [f"{message} ({end})" if end else message, f"puma: {cell}; the other cells go on"]
    return "\n".join([*lines, _MEMORY] if end.endswith("SIGKILL") else lines)
