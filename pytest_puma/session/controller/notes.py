"""What the run shows beside the lines of pytest: notes before it, and tables at the end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_puma.session.settings.compared import wants_run
from pytest_puma.session.settings.config import DEMONSTRATION, names_no_model, settings_of
from pytest_puma.session.terminal import show, width

if TYPE_CHECKING:
    from pytest_puma.core import Run
    from pytest_puma.runs.comparison import RunComparison


def start_notes(config: pytest.Config, cells: Sequence[str], baseline_note: str | None, unwritable: str) -> list[str]:
    """Return the lines to show before a run of these cells; `unwritable`: why it keeps nothing, empty if it does."""
    from pytest_puma.report import escape

    kept_note = f"puma: {unwritable}: the run keeps nothing, and its tables are in this terminal" if unwritable else ""
    notes = (_model_note(config), *_rescoring_notes(config, cells), _device_note(config), baseline_note, kept_note)
    return [escape.terminal(note) for note in notes if note]


def _model_note(config: pytest.Config) -> str | None:
    """Return a note if nobody chose the model."""
    if not names_no_model(config):
        return None
    return f"puma: on the bundled demonstration model {DEMONSTRATION}; name your own by --puma-model FILE.gguf"


def _rescoring_notes(config: pytest.Config, cells: Sequence[str]) -> list[str]:
    """Return the run whose answers are read, how many of its cells, and those that were cut off."""
    run = settings_of(config).request.rescored
    if run is None:
        return []
    counts = f"{len({*cells})} of its {len(run.cells)} cells"
    return [
        f"puma: rescored from the run {run.name}: {counts}; no model is loaded",
        *(f"puma: {sentence}" for sentence in run.cut_off),
    ]


def _device_note(config: pytest.Config) -> str | None:
    """Return the device; None if no model is loaded, or if the backend of a plugin may compute it elsewhere."""
    models = [model for model in settings_of(config).request.models if model.computes]
    if not models or config.option.collectonly or config.hook.pytest_puma_backend.get_hookimpls():
        return None
    from pytest_puma.core import EngineError
    from pytest_puma.engine.layout import device

    try:
        from pytest_puma.engine.native import gpus, offloads

        found = device(models, gpus(), offloads=offloads())
    except EngineError:  # which the first item reports
        return None
    return f"puma: computed on {found}"


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
    omitted = not_compared(run.outcomes, settings_of(config).judging.compare)
    earlier = () if comparison is None else comparison.contrasts
    along_axes = [each for each in run.contrasts if each not in earlier]
    best = leaders(run.outcomes) if {"strategy", "model"} & {*settings_of(config).judging.compare} else ()
    show(terminalreporter, "puma: comparison", [*contrasts.lines(along_axes, columns), *omitted, *best])
    if comparison is not None:
        show(terminalreporter, "puma: earlier run", comparison_lines(comparison, columns, flips=False))
    elif wants_run(config):
        why = "by last: this project has no earlier run" if folder is not None else "with: this run keeps nothing"
        show(terminalreporter, "puma: earlier run", [f"nothing to compare {why}"])


def _flips(config: pytest.Config, run: Run) -> list[str]:
    from pytest_puma.report.terminal import flips

    if not settings_of(config).judging.flips:
        return []
    lines = [line for outcome in run.outcomes for line in flips(outcome)]
    return lines or ["flips: no answer of this run is better or worse than in a baseline"]
