"""The tables and lines of a run at the end of pytest's output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.settings.compared import wants_run
from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.terminal.sections import show, width

if TYPE_CHECKING:
    from pytest_puma.core import Run
    from pytest_puma.runs.comparison import RunComparison


def show_summary(
    config: pytest.Config,
    terminalreporter: Any,
    run: Run,
    folder: Path | None,
    lines: Sequence[str],
    *,
    comparison: RunComparison | None,
) -> None:
    """Show the table of the run, perturbations and comparisons; `lines` are about the written files.

    `comparison`: with an earlier run, if it was requested and there is one.
    """
    from pytest_puma.analysis.contrasts import not_compared
    from pytest_puma.analysis.leader import leaders
    from pytest_puma.report import contrasts, robustness
    from pytest_puma.report.comparison import lines as comparison_lines
    from pytest_puma.report.terminal import summary

    name = "" if folder is None else os.path.relpath(folder, config.invocation_params.dir)
    columns = width(config)
    show(terminalreporter, "puma", [*summary(run, name, columns), *_flips(config, run), *lines])
    perturbed = [*robustness.lines(run.robustness, columns), *robustness.not_run(run)]
    show(terminalreporter, "puma: perturbations", perturbed)
    omitted = not_compared(run.outcomes, settings_of(config).compare)
    earlier = () if comparison is None else comparison.contrasts
    along_axes = [each for each in run.contrasts if each not in earlier]
    best = leaders(run.outcomes) if {"strategy", "model"} & {*settings_of(config).compare} else ()
    show(terminalreporter, "puma: comparison", [*contrasts.lines(along_axes, columns), *omitted, *best])
    if comparison is not None:
        show(terminalreporter, "puma: earlier run", comparison_lines(comparison, columns, flips=False))
    elif wants_run(config):
        why = "by last: this project has no earlier run" if folder is not None else "with: this run keeps nothing"
        show(terminalreporter, "puma: earlier run", [f"nothing to compare {why}"])


def _flips(config: pytest.Config, run: Run) -> list[str]:
    from pytest_puma.report.terminal import flips

    if not settings_of(config).flips:
        return []
    lines = [line for outcome in run.outcomes for line in flips(outcome)]
    return lines or ["flips: no answer of this run is better or worse than in a baseline"]
