"""`--puma-plan`: forecast the cells instead of running them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import psutil
import pytest

from pytest_puma.core import PumaError
from pytest_puma.models.quantised import at_hand
from pytest_puma.report.forecast import forecast_lines
from pytest_puma.runs.throughput import read_throughput
from pytest_puma.session.items.collected import cell_of
from pytest_puma.session.items.memory import give_back
from pytest_puma.session.settings.config import settings_of
from pytest_puma.session.settings.project import project_root
from pytest_puma.session.terminal import show, width

#: The libraries that a run imports when it needs them, and those of the naive baselines, by far the largest.
_LIBRARIES, _NAIVE = ("pandas", "scipy.stats"), ("sklearn.linear_model", "sklearn.model_selection")


class Planner:
    """Replaces the test loop. Workers are refused, as they would have nothing to do."""

    def __init__(self, config: pytest.Config) -> None:
        if getattr(config.option, "tx", None):
            msg = "puma: --puma-plan: found -n; expected no workers, as nothing runs; leave out -n, or add -n 0"
            raise pytest.UsageError(msg)
        self._config = config
        self._lines: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Forecast every collected cell; after collection errors return None, as pytest reports them.

        A mistake that a run would refuse is a usage error.
        """
        if session.testsfailed or session.config.option.collectonly:
            return None
        settings = settings_of(self._config)
        # Answers that are read cost nothing, but a judge does.
        every = [cell for item in session.items if (cell := cell_of(item)) is not None]
        cells = [cell for cell in every if cell.model.computes or cell.model.source == "answers"]
        try:
            # Imports llama.cpp, which may fail.
            from pytest_puma.planning.forecast import calibrate, plan

            root = project_root(self._config)
            models = dict.fromkeys(cell.model for cell in cells if cell.model.computes)
            models |= dict.fromkeys(judge for cell in cells for judge in cell.judges if judge.computes)
            measured = cache(calibrate)  # the plain model once for all its variants
            throughputs = {
                model: read_throughput(root, model) or measured(at_hand(model.loaded), threads=settings.request.threads)
                for model in models
            }
            forecasts, read = plan(cells, throughputs, settings)
        except (PumaError, OSError) as error:
            # Only a worker would take it for an internal error, and there are none.
            raise pytest.UsageError(f"puma: {error}" if isinstance(error, OSError) else str(error)) from error
        by_name = {model.name: throughput for model, throughput in throughputs.items()}
        process = _process_bytes(naive=any(settings.judging.naive_baselines_of(cell) is not None for cell in cells))
        self._lines = forecast_lines(forecasts, by_name, width(self._config), process_bytes=process, read=read)
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the table."""
        show(terminalreporter, "puma: plan", self._lines)


def _process_bytes(*, naive: bool) -> int:
    """Return the bytes of a process that runs cells, without models. Imports the libraries of a run in this one."""
    for name in (*_LIBRARIES, *(_NAIVE if naive else ())):
        import_module(name)
    give_back()
    return int(psutil.Process().memory_info().rss)
