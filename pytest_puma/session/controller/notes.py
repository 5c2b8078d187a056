"""What the run shows beside the lines of pytest: notes before it, tables and reasons at the end."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.analysis.contrasts import not_compared
from pytest_puma.core import EngineError, Run
from pytest_puma.engine.machine import device
from pytest_puma.models.pairs import layers_unnamed
from pytest_puma.phrases import one_line
from pytest_puma.report import escape, robustness, variants
from pytest_puma.report.commands import steps
from pytest_puma.report.comparison import comparison_lines, contrast_lines
from pytest_puma.report.table import text_width
from pytest_puma.report.terminal import flip_lines, summary
from pytest_puma.runs.comparison import RunComparison
from pytest_puma.runs.prediction_file import PredictionFile
from pytest_puma.runs.run_order import PREDICTIONS
from pytest_puma.session.settings.cluster import cluster_of
from pytest_puma.session.settings.config import DEMONSTRATION, settings_of
from pytest_puma.session.settings.earlier_runs import compared
from pytest_puma.session.settings.options import stated
from pytest_puma.session.terminal import show, width

#: Variables of CI systems, where pytest shortens no line.
_CI = ("CI", "BUILD_NUMBER")
#: The lists of failures, and the characters of `-r` that request them.
_KINDS = {"failed": "f", "error": "E"}
#: Characters of a reason: a body may fail with a text of any length.
_LONGEST = 400


def start_notes(config: pytest.Config, cells: Sequence[str], baseline_note: str | None, unwritable: str) -> list[str]:
    """Return the lines to show before a run of these cells; `unwritable`: why it keeps nothing, empty if it does."""
    notes = [*_rescoring_notes(config, cells), *_device_notes(config), baseline_note]
    if not stated(config, "--puma-model")[1] and not config.option.puma_rescore:
        demonstration = f"on the bundled demonstration model {DEMONSTRATION}"
        notes.insert(0, f"puma: {demonstration}; name your own by --puma-model FILE.gguf")
    if unwritable:
        notes.append(f"puma: {unwritable}: the run keeps nothing, and its tables are in this terminal")
    return [escape.terminal(note) for note in notes if note]


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


def _device_notes(config: pytest.Config) -> list[str]:
    """Return the device, and what each model needs of its memory; none if a plugin may compute elsewhere."""
    models = [model for model in settings_of(config).request.models if model.computes]
    if config.option.puma_cluster and not config.option.collectonly:
        return [f"puma: computed on {cluster_of(config)}"]
    if not models or config.option.collectonly or config.hook.pytest_puma_backend.get_hookimpls():
        return []
    try:
        from pytest_puma.engine.fit import memory_lines
        from pytest_puma.engine.native import gpus, offloads

        devices = gpus()
        # Of several workers, each has one.
        needs = memory_lines(models, devices, 0 if len(getattr(config.option, "tx", None) or ()) > 1 else None)
        return [f"puma: {text}" for text in (f"computed on {device(models, devices, offloads=offloads())}", *needs)]
    except EngineError:  # which the first item reports
        return []


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
    name = "" if folder is None else os.path.relpath(folder, config.invocation_params.dir)
    columns = width(config)
    show(terminalreporter, "puma", [*summary(run, name, columns), *_flips(config, run), *steps(run), *lines])
    show(terminalreporter, f"puma: {robustness.title(run)}", robustness.lines(run, columns))
    models = [model for model in settings_of(config).request.models if model.computes and run.variants]
    layers = dict.fromkeys(sentence for model in models for sentence in layers_unnamed(model))
    replies: Iterator[str] = iter(())
    if settings_of(config).judging.flips and folder is not None and (folder / PREDICTIONS).is_file():
        replies = variants.replies(run, PredictionFile(folder / PREDICTIONS))
    show(terminalreporter, "puma: variants", [*variants.lines(run, columns), *layers, *replies])
    omitted = not_compared(run.outcomes, settings_of(config).judging.compare)
    earlier = () if comparison is None else comparison.contrasts
    along_axes = [contrast for contrast in run.contrasts if contrast not in earlier]
    show(terminalreporter, "puma: comparison", [*contrast_lines(along_axes, columns), *omitted, *run.best])
    if comparison is not None:
        show(terminalreporter, "puma: earlier run", comparison_lines(comparison, columns, flips=False))
    elif compared(config)[1] and (folder is None or settings_of(config).judging.earlier is None):
        why = "by last: this project has no earlier run" if folder is not None else "with: this run keeps nothing"
        show(terminalreporter, "puma: earlier run", [f"nothing to compare {why}"])


def _flips(config: pytest.Config, run: Run) -> list[str]:
    if not settings_of(config).judging.flips:
        return []
    lines = [line for outcome in run.outcomes for line in flip_lines(outcome.cell, outcome.judgement.flips)]
    return lines or ["flips: no answer of this run is better or worse than in a baseline"]


class ShortSummary:
    """Adds reasons below pytest's short test summary, where a narrow terminal has no room beside the long ids of cells.

    FAILED benchmarks/test_triage_jira.py::test_triage_jira[triage_jira-zero_shot@puma-tiny]
    reasons:
      triage_jira-zero_shot@puma-tiny: f1_macro 0.11 < 0.3
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    # Around pytest's own wrapper, which writes the short test summary.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        """Write the reasons after pytest has written its summary."""
        result = yield
        lines = [] if self._is_whole(terminalreporter) else list(self._missing(terminalreporter))
        # A terminal that is gone, or a full disk behind it, is pytest's to report.
        with suppress(OSError):
            for line in ["reasons:", *lines] if lines else []:
                terminalreporter.write_line(line)
        return result

    def _is_whole(self, terminalreporter: Any) -> bool:
        """Whether pytest writes no summary, or a line as long as its reason."""
        option = self._config.option
        longest = option.verbose > 1 or any(os.environ.get(name) for name in _CI)
        return terminalreporter.no_summary or (longest and not option.force_short_summary)

    def _missing(self, terminalreporter: Any) -> Iterator[str]:
        """Yield the reason of each failed item whose line is longer than the terminal is wide."""
        writer, stats = self._config.get_terminal_writer(), terminalreporter.stats
        for kind, character in _KINDS.items():
            for report in stats.get(kind, []) if character in terminalreporter.reportchars else []:
                reason = _reason(report)
                # pytest takes a line with colours for no wider than its reason.
                before = "" if writer.hasmarkup else f"{kind} {report.nodeid}"
                if reason and text_width(f"{before} - {reason}") > writer.fullwidth:
                    name = getattr(report, "puma_cell", None) or report.nodeid
                    yield f"  {escape.terminal(name)}: {escape.terminal(one_line(reason, _LONGEST))}"


def _reason(report: Any) -> str:
    """Return the first line of the reason why an item of ours failed, else nothing."""
    if not getattr(report, "puma_cell", None) and not report.nodeid.startswith("puma::"):
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longrepr if crash is None else crash.message
    return text.partition("\n")[0] if isinstance(text, str) else ""
