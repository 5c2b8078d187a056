"""`--puma-plan`: in place of running the cells, tell what they would take."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import PumaError
from pytest_puma.session.collect import cell_of
from pytest_puma.session.config import settings_of
from pytest_puma.session.project import project_root
from pytest_puma.session.sections import show, width


class Planner:
    """Takes the place of the test loop. Refuses workers: there is nothing for them to do."""

    def __init__(self, config: pytest.Config) -> None:
        if getattr(config.option, "tx", None):
            msg = "puma: --puma-plan runs nothing and has no use for workers; leave out -n, or say -n 0 behind it"
            raise pytest.UsageError(msg)
        self._config = config
        self._lines: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Plan every cell that was collected; None leaves what collection found wrong to pytest.

        What a run would refuse is a usage error.
        """
        if session.testsfailed or session.config.option.collectonly:
            return None
        from pytest_puma.planning.forecast import plan
        from pytest_puma.report.plan import plan_lines
        from pytest_puma.store.throughput import read_rates

        settings = settings_of(self._config)
        cells = [cell for item in session.items if (cell := cell_of(item)) is not None]
        rates = {cell.model: read_rates(project_root(self._config), cell.model) for cell in cells}
        try:
            forecasts = plan(
                cells,
                rates,
                project=settings.project,
                strategies=settings.registry.strategies,
                perturbations=settings.registry.perturbations,
            )
        except PumaError as error:
            # There are no workers here that would take it for an internal error.
            raise pytest.UsageError(str(error)) from error
        named = {model.name: known for model, known in rates.items()}
        self._lines = plan_lines(forecasts, named, width(self._config))
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table."""
        show(terminalreporter, "puma: plan", self._lines)
