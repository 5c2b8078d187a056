"""A scenario's own metrics: functions of a list of predictions, given an interval like any other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pytest_puma.core import OwnMetric, Scenario, SettingsError
from pytest_puma.metrics.statistic import Statistic
from pytest_puma.metrics.table import Table

if TYPE_CHECKING:
    from pytest_puma.metrics.statistic import Kernel, Values, Weights

RESAMPLES = 300  # a function in Python is called for each
_NAME = re.compile(r"[\w.+-]+")


def statistics(scenario: Scenario, table: Table) -> Iterator[Statistic]:
    """The metrics that the scenario declares; a `SettingsError` for a name that no gate could write."""
    for name, metric in scenario.metrics().items():
        if not _NAME.fullmatch(name):
            msg = f"{scenario.name}: metrics() names {name!r}; expected letters, digits and any of _ . + - only"
            raise SettingsError(msg)
        yield Statistic(name=name, kernel=_repeated(metric, table), n=len(table), resamples=RESAMPLES)


def _repeated(metric: OwnMetric, table: Table) -> Kernel:
    """Call the metric on the predictions, each repeated as often as its weight (under its own sample id)."""

    def value(repeats: Weights) -> float:
        rows = np.repeat(np.arange(len(table)), repeats.astype(np.intp))
        try:
            return float(metric([table.predictions[row] for row in rows]))
        except ZeroDivisionError:  # a share of nothing: this resample holds none of what is counted
            return math.nan

    def kernel(weights: Weights) -> Values:
        return np.array([value(repeats) for repeats in weights], dtype=np.float64)

    return kernel
