"""A scenario's own metrics: functions of a list of predictions, with an interval like any other metric."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.core import Metric, Prediction, Scenario, SettingsError
from pytest_puma.metrics.scoring import as_number, raised, unusable
from pytest_puma.metrics.statistic import Statistic
from pytest_puma.metrics.table import Table
from pytest_puma.platform.signals import CALL, limited
from pytest_puma.stats.arrays import Values, Weights

RESAMPLES = 300  # each calls a Python function
#: With fewer rows, the coverage of percentiles is too low for an arbitrary metric.
MIN_ROWS = 100
_NAME = re.compile(r"[\w.+-]+")


@dataclass(slots=True, eq=False)
class Repeated:
    """The kernel of a metric: calls it on the predictions, each repeated as often as its weight, under its sample id.

    `seconds` is the time of all `calls`. Calling it raises a `MetricError` with the `name` if the metric raises, or
    returns no finite number.
    """

    name: str
    metric: Callable[[Sequence[Prediction]], float]
    predictions: Sequence[Prediction]
    seconds: float = 0.0
    calls: int = 0

    def __call__(self, weights: Weights) -> Values:
        """Return the value of each resample."""
        started = time.perf_counter()
        values = np.array([self._value(repeats) for repeats in weights], dtype=np.float64)
        self.seconds += time.perf_counter() - started
        self.calls += len(weights)
        return values

    def _value(self, repeats: Values) -> float:
        rows = np.repeat(np.arange(len(self.predictions)), repeats.astype(np.intp)).tolist()
        try:
            with limited(CALL):
                value = self.metric([self.predictions[row] for row in rows])
        except ZeroDivisionError:  # a share of nothing: this resample has none of the counted samples
            return math.nan
        except Exception as error:
            raise raised(self.name, error) from error
        number = as_number(value)
        if number is None or math.isinf(number):
            raise unusable(self.name, value, "a finite number, NaN if there is nothing to measure")
        return number


def statistics(scenario: Scenario, table: Table, metrics: Sequence[Metric] = ()) -> Iterator[Statistic]:
    """Yield the metrics of a whole cell: those that the scenario declares, and those of `metrics`.

    Raises a `SettingsError` for a name that no gate could contain.
    """
    of_cells = {metric.name: metric for metric in metrics if metric.per == "cell"}
    for name, metric in (*scenario.metrics().items(), *of_cells.items()):
        if not _NAME.fullmatch(name):
            msg = f"{scenario.name}: metrics() names {name!r}; expected letters, digits and any of _ . + - only"
            raise SettingsError(msg)
        kernel = Repeated(name, metric, table.predictions)
        declared = metric if isinstance(metric, Metric) else None
        yield Statistic(
            name=name,
            kernel=kernel,
            n=len(table),
            better="neither" if declared is None else declared.better,
            unit="" if declared is None else declared.unit,
            resamples=RESAMPLES,
            min_rows=MIN_ROWS,
        )
