"""Values of `--puma-compare`: axes of the cells of this run, and an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_puma.session.settings.options import names
from pytest_puma.session.settings.project import project_root

if TYPE_CHECKING:
    from pytest_puma.runs.past_run import Older

#: The newest run, and the beginning of any other one.
_LAST, _RUN = "last", "run:"


def axes(config: pytest.Config) -> tuple[str, ...]:
    """Return the axes of `--puma-compare` among the cells of this run, and with their baselines."""
    from pytest_puma.analysis.contrasts import AXES
    from pytest_puma.core import SettingsError

    compared = _compared(config)
    for name in compared:
        if name not in AXES and not _is_run(name):
            msg = f"--puma-compare {name!r}: expected one of {', '.join(AXES)}, last, run:RUN"
            raise SettingsError(msg)
    return tuple(name for name in compared if not _is_run(name))


def earlier_run(config: pytest.Config) -> Older | None:
    """Return the run of `--puma-compare`, None if there is none; `last` may mean no run, as in the first run of all.

    The process that receives every report compares, so that workers need no run.
    """
    wanted = [name for name in _compared(config) if _is_run(name)]
    if not wanted or hasattr(config, "workerinput"):
        return None
    from pytest_puma.errors import SettingsError, naming
    from pytest_puma.platform.project_folder import runs_of
    from pytest_puma.runs.names import run_in_project
    from pytest_puma.runs.past_run import Older, PastRun
    from pytest_puma.runs.run_order import newest_run

    if len(wanted) > 1:
        msg = f"--puma-compare {', '.join(wanted)}: expected one run; pytest-puma compare compares any two"
        raise SettingsError(msg)
    root = project_root(config)
    if wanted == [_LAST] and newest_run(runs_of(root)) is None:
        return None
    with naming(f"--puma-compare {wanted[0]!r}"):
        row = run_in_project(wanted[0].removeprefix(_RUN), root)
        return Older.of_run(f"run {row.number}", PastRun(runs_of(root) / row.name))


def wants_run(config: pytest.Config) -> bool:
    """Whether a comparison with an earlier run is requested."""
    return any(map(_is_run, _compared(config)))


def _is_run(name: str) -> bool:
    return name == _LAST or name.startswith(_RUN)


def _compared(config: pytest.Config) -> tuple[str, ...]:
    return names("--puma-compare", config.option.puma_compare or config.getini("puma_compare"))
