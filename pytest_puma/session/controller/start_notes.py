"""Notes before a run: the default model, the device, missing baselines, and a folder that cannot be written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_puma.session.settings.config import DEMONSTRATION, names_no_model, settings_of


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
    run = settings_of(config).rescored
    if run is None:
        return []
    counts = f"{len({*cells})} of its {len(run.cells)} cells"
    return [
        f"puma: rescored from the run {run.name}: {counts}; no model is loaded",
        *(f"puma: {sentence}" for sentence in run.cut_off),
    ]


def _device_note(config: pytest.Config) -> str | None:
    """Return the device; None if no model is loaded, or if the backend of a plugin may compute it elsewhere."""
    models = [model for model in settings_of(config).models if model.computes]
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
