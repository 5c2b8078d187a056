"""Earlier runs that options name: to compare with, to rescore, or to run its flips alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_puma.analysis.contrasts import AXES
from pytest_puma.errors import SettingsError, naming
from pytest_puma.platform.project_folder import runs_of
from pytest_puma.runs.names import run_in_project
from pytest_puma.runs.past_run import Older, PastRun, last_flips
from pytest_puma.runs.recorded_run import RecordedRun, find_recorded
from pytest_puma.runs.run_order import newest_run
from pytest_puma.session.settings.options import names, stated
from pytest_puma.session.settings.project import project_root

#: The newest run, and the beginning of any other one.
_LAST, _RUN = "last", "run:"


def compared(config: pytest.Config) -> tuple[tuple[str, ...], list[str]]:
    """Return the axes of `--puma-compare`, and the earlier runs of it."""
    requested = names(*stated(config, "--puma-compare"))
    runs = [name for name in requested if name == _LAST or name.startswith(_RUN)]
    axes = tuple(name for name in requested if name not in runs)
    for name in axes:
        if name not in AXES:
            msg = f"--puma-compare {name!r}: expected one of {', '.join(AXES)}, last, run:RUN"
            raise SettingsError(msg)
    return axes, runs


def older(config: pytest.Config, runs: Sequence[str]) -> Older | None:
    """Return the run of `--puma-compare`, None if there is none; `last` may mean no run, as in the first run of all.

    The process that receives every report compares, so that workers need no run.
    """
    if not runs or hasattr(config, "workerinput"):
        return None
    if len(runs) > 1:
        msg = f"--puma-compare {', '.join(runs)}: expected one run; pytest-puma compare compares any two"
        raise SettingsError(msg)
    root = project_root(config)
    if runs == [_LAST] and newest_run(runs_of(root)) is None:
        return None
    with naming(f"--puma-compare {runs[0]!r}"):
        row = run_in_project(runs[0].removeprefix(_RUN), root)
        return Older.of_run(f"run {row.number}", PastRun(runs_of(root) / row.name))


def flipped(config: pytest.Config) -> Mapping[str, frozenset[str]] | None:
    """Return the samples that `--puma-only-flips` runs, by cell; None for all."""
    if not config.option.puma_only_flips:
        return None
    with naming("--puma-only-flips"):
        return last_flips(project_root(config))


def rescored(config: pytest.Config) -> RecordedRun | None:
    """Return the run to rescore; None to compute answers. Workers get its folder, as `last` may change its meaning."""
    text: str | None = config.option.puma_rescore
    if text is None:
        return None
    with naming(f"--puma-rescore {text!r}"):
        run = find_recorded(text, project_root(config), config.invocation_params.dir)
        config.option.puma_rescore = str(run.path.parent)
        _ = run.cells
    return run
