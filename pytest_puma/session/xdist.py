"""Benchmarks under pytest-xdist: how many workers `-n auto` starts, and which cells go to which.

One process uses all cores, or a GPU, to the full. A second one on the same would load the model again and gain
nothing. So `-n auto` starts one worker for each GPU, else one, and the cells of a model stay together.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.config import settings_of
from pytest_puma.session.options import is_asked

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from pytest_puma.engine.layout import Share

#: Tells a worker whether the cells of a model stay on one.
_TOGETHER = "puma_together"


def auto_workers(config: pytest.Config) -> int | None:
    """What `-n auto` means for a run of benchmarks; None for any other, and where the environment says it."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not is_benchmark_run(config):
        return None
    from pytest_puma.core import PumaError
    from pytest_puma.engine.layout import useful_workers
    from pytest_puma.engine.native import gpus
    from pytest_puma.models import weights_size

    found = gpus()
    if not found:
        return 1
    try:
        return useful_workers(found, max(weights_size(model.path) for model in settings_of(config).models))
    except PumaError:
        # Told with its reason as soon as pytest is configured.
        return 1


def is_benchmark_run(config: pytest.Config) -> bool:
    """Whether the command line has an option of ours, or names benchmarks and nothing else."""
    paths = [config.invocation_params.dir / path.partition("::")[0] for path in config.known_args_namespace.file_or_dir]
    return is_asked(config) or (bool(paths) and all(map(_holds_benchmarks, paths)))


def header(config: pytest.Config) -> str | None:
    """How many workers and why."""
    workers = len(getattr(config.option, "tx", None) or ())
    if not workers or hasattr(config, "workerinput") or not is_benchmark_run(config):
        return None
    if config.known_args_namespace.numprocesses not in {"auto", "logical"}:
        where = "the cells of a model on one of them" if _together(config) else f"--dist {config.option.dist}"
        return f"puma: {workers} workers as asked for, {where}"
    if workers > 1:
        return f"puma: {workers} workers, one for each GPU that the model fits on"
    return "puma: 1 worker with all cores; more processes would only share them, and load the model again"


def tell_worker(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """What a worker must know to take its share."""
    workerinput[_TOGETHER] = _together(config)


def own_share(config: pytest.Config) -> Share:
    """What this process may use: all, or as one of several workers its part."""
    from pytest_puma.engine.cores import cores
    from pytest_puma.engine.layout import Share, share_of

    told = getattr(config, "workerinput", None)
    if told is None or told["workercount"] == 1:
        return Share(threads=cores())
    from pytest_puma.engine.native import gpus

    return share_of(
        int(told["workerid"].removeprefix("gw")),
        workers=told["workercount"],
        models=len(settings_of(config).models),
        cores=cores(),
        gpus=len(gpus()),
        together=told.get(_TOGETHER, False),
    )


def make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Ours instead of the default; None leaves a `--dist` that was asked for to xdist."""
    if not _together(config):
        return None
    from pytest_puma.session.scheduling import Undecided

    return Undecided(config, log)


def _together(config: pytest.Config) -> bool:
    # xdist turns "no" into "load" where there are workers; what was asked for stands here.
    return bool(config.option.dist == "load" and config.known_args_namespace.dist == "no")


def _holds_benchmarks(path: Path) -> bool:
    """A run-spec, a test file with our marker, or a folder that has such files alone."""
    if path.suffix in {".yaml", ".yml"}:
        return True
    files = [path] if path.is_file() else [*path.rglob("test_*.py"), *path.rglob("*_test.py")]
    return bool(files) and all("mark.puma(" in file.read_text(encoding="utf-8", errors="replace") for file in files)
